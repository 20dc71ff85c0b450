"""The style sheet of the page: light and dark, six colours for graphs, one for Python."""

from typing import Final

#: how many colours for graphs there are; later ones begin again
COLOURS: Final = 6

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2430; --dim: #5d6878; --rule: #d9dee6; --code: #fbfcfd;
  --g0: #dcebff; --g0-edge: #1f6fd6; --g1: #d9f3df; --g1-edge: #1b8a3e; --g2: #ece0fc; --g2-edge: #7a3fd0;
  --g3: #d5f2f2; --g3-edge: #0c7f86; --g4: #fde1ee; --g4-edge: #c2307a; --g5: #eef0c9; --g5-edge: #7a7f10;
  --py: #ffe6cc; --py-edge: #c25a00; --again: #8a5a00; --again-fill: #fff3d1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --ink: #e4e9f0; --dim: #98a4b5; --rule: #333d4b; --code: #161b23;
    --g0: #16304f; --g0-edge: #6aacff; --g1: #15381f; --g1-edge: #5fd083; --g2: #30214d; --g2-edge: #b48cff;
    --g3: #10393b; --g3-edge: #4fcdd3; --g4: #45192f; --g4-edge: #ff86ba; --g5: #33350f; --g5-edge: #cfd45a;
    --py: #4a2a0b; --py-edge: #ffab5e; --again: #ffd479; --again-fill: #3b2e10;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 86rem; padding: 1.5rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 0; }
h3 { font-size: .95rem; margin: 1.25rem 0 .5rem; }
a { color: inherit; }
.dim, .path { color: var(--dim); }
.path { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85rem; overflow-wrap: anywhere; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: .5rem 1rem; }
.tiles b { display: block; font-size: 1.35rem; line-height: 1.25; }
section.function {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 1.25rem; margin: 1.25rem 0;
}
.legend .chip { margin-right: 3px; }
.legend {
  display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: .75rem 0; padding: 0; list-style: none; font-size: .85rem;
}
.key, .chip {
  display: inline-block; border-radius: 4px; padding: 0 .4em; font-size: .78rem; line-height: 1.5; font-weight: 600;
  text-decoration: none; border: 1px solid var(--edge); color: var(--edge); background: var(--fill);
  white-space: nowrap;
}
.c0 { --fill: var(--g0); --edge: var(--g0-edge); } .c1 { --fill: var(--g1); --edge: var(--g1-edge); }
.c2 { --fill: var(--g2); --edge: var(--g2-edge); } .c3 { --fill: var(--g3); --edge: var(--g3-edge); }
.c4 { --fill: var(--g4); --edge: var(--g4-edge); } .c5 { --fill: var(--g5); --edge: var(--g5-edge); }
.py { --fill: var(--py); --edge: var(--py-edge); }
.source {
  margin: .5rem 0 0; padding: 0; list-style: none; border: 1px solid var(--rule); border-radius: 8px; overflow: hidden;
  background: var(--code); font: 13px/1.55 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
.line { display: grid; grid-template-columns: 4.5ch 7.5rem minmax(0, 1fr) minmax(0, 26rem); }
.line.plain { grid-template-columns: 4.5ch 7.5rem minmax(0, 1fr); }
.number { color: var(--dim); text-align: right; padding-right: 1ch; user-select: none; }
.where { display: flex; align-self: start; flex-wrap: wrap; gap: 2px 3px; align-content: start; padding-right: .5rem; }
.line pre {
  margin: 0; padding: 0 .75rem; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere;
  border-left: 4px solid transparent; align-self: start;
}
.ran pre { background: var(--fill); border-left-color: var(--edge); }
.idle pre { color: var(--dim); }
.at {
  text-decoration: underline wavy var(--py-edge) 1.5px; text-underline-offset: 3px; text-decoration-skip-ink: none;
}
.margin { padding: .1rem .5rem .35rem .75rem; font: 13px/1.45 system-ui, "DejaVu Sans", sans-serif; }
.note { border-left: 3px solid var(--edge); padding-left: .6rem; margin: .15rem 0 .35rem; overflow-wrap: anywhere; }
.note.again { --edge: var(--again); }
.note p { margin: 0; white-space: pre-line; }
.note .title { font-weight: 600; color: var(--edge); }
.note .todo { white-space: pre-wrap; }
details.graph {
  border: 1px solid var(--rule); border-left: 4px solid var(--edge); border-radius: 8px; margin: .5rem 0;
}
details.graph > summary { padding: .5rem .75rem; cursor: pointer; }
details.graph > div { padding: 0 1rem 1rem; }
.again-mark { background: var(--again-fill); color: var(--again); border-radius: 4px; padding: 0 .4em; }
.bars {
  display: grid; grid-template-columns: max-content 3rem minmax(4rem, 20rem); gap: .1rem .75rem; font-size: .88rem;
}
.bars i { background: var(--edge); border-radius: 3px; height: .7em; align-self: center; min-width: 3px; }
.bars .times { text-align: right; font-variant-numeric: tabular-nums; }
ul.compact { margin: 0; padding-left: 1.2rem; font-size: .88rem; }
pre.text {
  overflow-x: auto; background: var(--code); border: 1px solid var(--rule); border-radius: 6px; padding: .75rem;
  font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; margin: .5rem 0 0;
}
@media (max-width: 64rem) {
  .line { grid-template-columns: 4.5ch 6rem minmax(0, 1fr); }
  .line.plain { grid-template-columns: 4.5ch 6rem minmax(0, 1fr); }
  .margin { grid-column: 3; }
}
@media print { details.graph > div { display: block; } }
"""
