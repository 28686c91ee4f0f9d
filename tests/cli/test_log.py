"""What the library reports of long work stands on stderr, once."""

import logging

from colabel.cli import _app


def test_reports_are_lines_on_stderr(capsys):
    logger, before = logging.getLogger("colabel"), logging.getLogger("colabel").level
    _app._show_log()
    _app._show_log()
    logger.info("compiling %s", "cut")
    for handler in [h for h in logger.handlers if isinstance(h, _app._LogLines)]:
        logger.removeHandler(handler)
    logger.setLevel(before)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "colabel: compiling cut\n"
