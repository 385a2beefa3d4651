class Ear:
    """Hears what a page gets from the server beyond Streamlit's own files.

    Pass it to `open_page` as `before`, for a visitor who does not know the server yet.
    """

    def __init__(self):
        self.forget()

    def __call__(self, page):
        page.on("websocket", lambda line: line.on("framereceived", lambda m: self.heard.append(m)))
        page.on("requestfinished", self._fetch)

    def _fetch(self, request):
        if "/static/" not in request.url:
            self.fetched.append((request.url, request.sizes()["responseBodySize"]))

    def forget(self):
        self.heard, self.fetched = [], []

    def addresses(self):
        """Of all files, as often as they were fetched."""
        return [address for address, _ in self.fetched]

    def size(self):
        """Bytes of all messages and files."""
        return sum(map(len, self.heard)) + sum(size for _, size in self.fetched)
