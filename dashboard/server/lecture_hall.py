"""``make serve``: the dashboard for a lecture hall, open to all who can reach this machine.

It says in plain words what that means before the server listens. ``ADDRESS`` is the interface,
``PORT`` the port, and ``HOSTS`` further names under which visitors reach the machine.
"""

import os
import socket
import sys
from collections.abc import Mapping

EVERYWHERE = "0.0.0.0"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def own_names() -> list[str]:
    """The names and addresses under which others may reach this machine."""
    name = socket.gethostname()
    found = [name, socket.getfqdn(), f"{name.partition('.')[0]}.local"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it asks the system for a route
            found.append(probe.getsockname()[0])
        except OSError:  # no network
            pass
    return list(dict.fromkeys(found))


def warning(address: str, port: str, names: list[str]) -> str:
    """What it means to let others in, and how they come in."""
    if address in _LOOPBACK:
        return f"Only this machine can open the dashboard, at http://{address}:{port}."
    links = "\n".join(f"  http://{name}:{port}" for name in names)
    return (
        "Everyone who can reach this machine over the network can now open the dashboard:\n"
        f"{links}\n\n"
        "- There is no password, and nothing is encrypted: what visitors do can be read on the\n"
        "  way.\n"
        "- Visitors make this machine compute. They share it fairly, but it will be busy.\n"
        "- They cannot read your files or run programs of theirs. Their sweeps are kept in the\n"
        "  cache of this user.\n"
        "- Use it in a network that you trust, and stop it with Ctrl-C after the lecture.\n"
        "  docs/deploying.md says how to serve it for longer, with encryption and a password.\n"
    )


def command(environment: Mapping[str, str]) -> tuple[list[str], str]:
    """The command that starts the server, and what to say before."""
    address = environment.get("ADDRESS") or EVERYWHERE
    port = environment.get("PORT") or "8501"
    names = [*own_names(), *(environment.get("HOSTS") or "").split()]
    options = [
        f"--server.address={address}",
        f"--server.port={port}",
        "--server.headless=true",
        *(f"--server.allowedHosts={name}" for name in (*_LOOPBACK, *names)),
    ]
    start = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    return start, warning(address, port, names)


def main() -> None:
    start, words = command(os.environ)
    print(words, flush=True)
    os.execv(start[0], start)


if __name__ == "__main__":
    main()
