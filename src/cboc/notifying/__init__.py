"""Telling people that an experiment is to be run, or that the site waits for them. Never with an outcome in it.

notification.py  what is said: fixed words, names and numbers of trials
settings.py      where to, in the site's file: mail, a webhook
mail.py          by SMTP
webhook.py       as JSON to a web address
line.py          a connection that ends in time, whatever the other end does
notifier.py      once for each experiment, tried a few times, and nobody waits for it
desktop.py       on this computer's screen
"""
