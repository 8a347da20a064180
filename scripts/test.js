// `npm test`: everything in `npm run check`, the unit tests over PostgreSQL, the end-to-end tests, and the coverage of the unit tests and of daemons that run from their sources.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';
import { checkStatically, ROOT, runEndToEndTests, runUnitTests, tellCounts } from './check.js';
import { runPostgresTests } from './postgres-tests.js';

process.chdir(ROOT);
const self = fileURLToPath(import.meta.url);

await build({ ifStale: true });
if (process.argv[2] === 'measured') {
  const isCi = process.env.CI === 'true';
  // Both at once, because each ends with a few tests that wait.
  const unit = await Promise.all([runUnitTests(), runPostgresTests({ isCi })]);
  const results = [...unit, await runEndToEndTests()];
  for (const result of results) tellCounts(result);
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
} else {
  const clean = await checkStatically();
  const c8 = path.join(ROOT, 'node_modules/.bin/c8');
  const { status } = spawnSync(c8, [process.execPath, self, 'measured'], { stdio: 'inherit' });
  const passed = clean && status === 0;
  process.stdout.write(passed ? '✔ everything passed\n' : '✖ something failed; see the lines with ✖ above\n');
  process.exitCode = passed ? 0 : 1;
}
