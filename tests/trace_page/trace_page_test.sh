#!/bin/bash
# The page comes up in headless Chromium, its script runs without an error, and it can be drawn.
set -euo pipefail

redouble=$PWD/$1
chromium=$(PATH="$PATH:/usr/local/bin:/usr/bin:/bin" command -v chromium || true)
cd "$TEST_TMPDIR"

cat >run.json <<'JSON'
{"name": "it counts wrong", "description": "d", "system": "redis", "start": "2026-05-09T14:03:02Z",
 "steps": [{"kind": "command", "command": ["SET", "n", "</script>", "PX", "5000"]},
           {"kind": "command", "command": ["GET", "n"], "expect": "1"}]}
JSON
code=0
"$redouble" replay "$PWD/run.json" --html "$PWD/run.html" || code=$?
if [ "$code" != 1 ]; then
  echo "the run should fail by its expectation, not with $code"
  exit 1
fi

if [ -z "$chromium" ]; then
  echo "SKIPPED: no chromium on this machine; the page was written, nobody has drawn it"
  exit 0
fi
browse() {
  "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" "$@" \
    "file://$PWD/run.html"
}
# The page's own script says by itself that it has come to its end.
browse --dump-dom >dom.html 2>browser.log
grep -q 'data-ready="2"' dom.html || { echo "the script did not run"; cat browser.log; exit 1; }
browse --window-size=1200,600 --screenshot="$PWD/run.png" 2>browser.log
[ "$(head -c 4 run.png | tail -c 3)" = PNG ] || { echo "no picture"; cat browser.log; exit 1; }
