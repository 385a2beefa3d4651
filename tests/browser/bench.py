"""The canvas of the Live lab on an empty page: messages come when the test says so."""

import base64

from dashboard.canvas import messages
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.view import View
from tests.browser.stillness import wait_until_painted


class Bench:
    """The lab on an empty page; what it sends is kept in `sent`."""

    def __init__(self, page, modules):
        self.page = page
        self.modules = modules
        self.complaints = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        style = "main { display: block; container-type: inline-size; }"  # as the component's host
        page.goto(modules)
        content = f"<style>{style}</style><main></main>"
        page.evaluate("content => { document.body.innerHTML = content }", content)
        page.evaluate(
            """async modules => {
              const { lab } = await import(`${modules}/lab.js`);
              const parentElement = document.querySelector("main");
              window.unmounts = [];
              window.sent = [];
              const keep = (name, value) => window.sent.push([name, value]);
              window.receive = (text) => window.unmounts.push(lab({
                data: Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)),
                parentElement, setStateValue: keep, setTriggerValue: keep,
              }));
            }""",
            modules,
        )

    @property
    def sent(self):
        return self.page.evaluate("window.sent")

    def receive(self, run, over=True, chart=DISK_CHART, **options):
        message = messages.run_message(run, over, View(), chart, **options)
        self.page.evaluate("text => window.receive(text)", base64.b64encode(message).decode())

    def give_cloud(self, run, **arrays):
        """As the other mount does; `arrays` replace those of the run."""
        cloud = {"xy": run.points, "states": run.true_states} | arrays
        arrays = {name: array.ravel().tolist() for name, array in cloud.items()}
        self.page.evaluate(
            """async ([modules, id, arrays]) => {
              const { keepCloud } = await import(`${modules}/clouds.js`);
              keepCloud({ id, stride: 1, ...arrays });
            }""",
            [self.modules, messages.run_id(run), arrays],
        )

    def wait_for(self, condition):
        self.page.wait_for_function(f"(lab => {condition})(document.querySelector('.lab').dataset)")

    def click(self, name):
        self.page.locator(f".{name}").click()

    def disk(self):
        """The picture on the disk, painted anew."""
        painted = self.page.locator(".lab").get_attribute("data-painted")
        self.page.evaluate("document.querySelector('main').picture.wake()")
        self.wait_for(f"Number(lab.painted) > {painted}")
        return self.page.evaluate("document.querySelector('canvas.map').toDataURL()")

    def take(self, state, right, down):
        """Take a mean and move it; it stays in the hand."""
        wait_until_painted(self.page)  # its handle is where the picture has it
        box = self.page.locator(".handle").nth(state).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + right, y + down)

    def drag(self, state, right, down):
        self.take(state, right, down)
        self.page.mouse.up()

    def means(self):
        """Where the crosses are."""
        return self.page.evaluate("document.querySelector('main').picture.scene.means")

    def moves(self):
        """Each time that means were dropped: which, and where."""
        drops = [value["pending"] for name, value in self.sent if name == "moved"]
        return [{drop["state"]: (drop["x"], drop["y"]) for drop in sent} for sent in drops]
