"""All results of a site as a file, from its page."""

import io
from contextlib import closing

import httpx2
import openpyxl

from .test_app import Visitor


def test_the_page_gives_all_results_as_csv_and_xlsx(laboratories):
    labs = laboratories()
    with closing(Visitor(labs.page("lab-a"), labs.secret)) as page:
        page.ask()
        trial = labs.site("lab-a").trials[0]
        page.post("/result", data={"trial": "0", "y": "0.75", "cost": "2"})
        assert 'href="/results.xlsx"' in page.get("/").text
        text = page.get("/results.csv")
        assert text.headers["content-disposition"] == 'attachment; filename="lab-a-results.csv"'
        header, line, *_ = text.content.decode("utf-8-sig").splitlines()
        assert header.startswith("trial,well,temperature (°C),time (h),cycles,solvent,y,sem,cost,status,decision")
        assert line.startswith("0,,") and ",0.75,,2.0,complete," in line
        rows = list(openpyxl.load_workbook(io.BytesIO(page.get("/results.xlsx").content)).active.values)
        assert rows[1][rows[0].index("cycles")] == trial.design(labs.study.space)["cycles"]
        assert httpx2.get(f"{page.base_url}/results.csv").status_code == 403, "for nobody else"
