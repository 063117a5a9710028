"""HTTP to this machine, in plain text: a client reads the certificates of the system for every message, unless told."""

from functools import partial

import httpx2

Client = partial(httpx2.Client, verify=False)
request = partial(httpx2.request, verify=False)
get = partial(httpx2.get, verify=False)
post = partial(httpx2.post, verify=False)
put = partial(httpx2.put, verify=False)
