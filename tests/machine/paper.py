"""What a browser would print: the page at the width of paper, with the images that it makes of its charts."""

from contextlib import contextmanager

A4 = {"width": 690, "height": 980}  # without its margins, in CSS pixels
BRIGHT = """image => {
    const copy = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d');
    copy.fillStyle = 'white';
    copy.fillRect(0, 0, image.naturalWidth, image.naturalHeight);
    copy.drawImage(image, 0, 0);
    const pixels = copy.getImageData(0, 0, image.naturalWidth, image.naturalHeight).data;
    const words = new Set(new Uint32Array(pixels.buffer));
    return words.size > 5;
}"""
CLICKED = "[...document.querySelectorAll('form, button, select, .bar nav')].filter(e => e.checkVisibility()).length"
CUT = """page => [...document.querySelectorAll('table, img, p, h1')]
    .map(e => [e.checkVisibility() ? Math.round(e.getBoundingClientRect().right) : 0, e.outerHTML.slice(0, 80)])
    .filter(([right]) => right > page.width + 1)"""


@contextmanager
def printed(window):
    """The page on paper, as long as the block lasts."""
    before = window.viewport_size
    window.evaluate("dispatchEvent(new Event('beforeprint'))")
    window.set_viewport_size(A4)
    window.emulate_media(media="print")
    window.wait_for_function("() => [...document.querySelectorAll('.chart .paper')].every(image => image.complete)")
    yield window
    window.emulate_media(media="screen")
    window.set_viewport_size(before)
    window.evaluate("dispatchEvent(new Event('afterprint'))")


def check(window):
    """Every chart is there, light; nothing is cut off; nothing is there to be clicked."""
    charts = window.locator(".chart").all()
    images = window.locator(".chart .paper").all()
    assert len(images) == len(charts) > 0
    for image in images:
        box = image.bounding_box()
        assert box["height"] > 100 and box["width"] > 100 and image.evaluate(BRIGHT)
    assert window.locator(".chart canvas").first.is_hidden()
    assert window.evaluate("getComputedStyle(document.body).color") == "rgb(27, 34, 38)"  # ink, also of a dark screen
    assert window.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert window.evaluate(CLICKED) == 0
    found = window.evaluate(CUT, A4)
    assert found == [], found
