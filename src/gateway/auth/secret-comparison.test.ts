import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../../', import.meta.url);
/** Where credentials come in. What they are looked up by elsewhere is a digest, which tells no time. */
const FILES = globSync(['src/gateway/{auth,nodes,connections}/*.ts', 'src/home/*.ts', 'src/http/*.ts'], {
  cwd: ROOT,
}).filter((file) => !file.endsWith('.test.ts'));

const SECRET = String.raw`[\w.]*(?:token|digest|hash|secret|jwt|code|candidate)\w*(?:\([^)]*\))?`;
const COMPARED = new RegExp(String.raw`${SECRET}\s*[!=]==?|[!=]==?\s*${SECRET}`, 'gi');
/** Ids and lengths are no secrets, and whether there is a secret at all is none either. */
const HARMLESS = /\w(?:_id|Id|\.length)\b|[!=]== (?:undefined|null|'|\d)|hasCode|\.code\b|opcode/;

const linesWith = (pattern: RegExp) =>
  FILES.flatMap((file) =>
    readFileSync(new URL(file, ROOT), 'utf8')
      .split('\n')
      .flatMap((line) => (line.match(pattern) ? [{ file, line: line.trim() }] : [])),
  );

test('secrets are compared in constant time, and by nothing else', () => {
  const compared = linesWith(COMPARED).filter(({ line }) => !HARMLESS.test(line));
  assert.deepEqual(compared, []);
  const inConstantTime = linesWith(/timingSafeEqual\(/).map(({ file }) => file);
  assert.deepEqual(inConstantTime.sort(), ['src/gateway/auth/token-matcher.ts', 'src/gateway/nodes/paired-nodes.ts']);
});
