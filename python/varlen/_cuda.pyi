__archs__: str
__version__: str

def probe() -> dict[str, int | str]: ...
