import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { createLog } from './pino-log.ts';

function arrange({ readable = false, level = 'info' as const } = {}) {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  const log = createLog({ level, readable, to: { write } });
  return { log, text: () => text, entry: () => JSON.parse(text) };
}

test('an entry is one JSON object with the caller’s fields', () => {
  const { log, entry } = arrange();
  log.warn({ wsId: 'a1' }, 'it is late');
  const { time, ...rest } = entry();
  assert.deepEqual(rest, { level: 40, wsId: 'a1', msg: 'it is late' });
  assert.equal(typeof time, 'number');
});

test('entries below the level are left out', () => {
  const { log, text } = arrange();
  log.debug({}, 'a detail');
  assert.deepEqual([text(), log.isDebugging], ['', false]);
  log.level = 'debug';
  log.debug({}, 'a detail');
  assert.deepEqual([text() !== '', log.isDebugging], [true, true]);
});

test('fields named like secrets are hidden down to the third level', () => {
  const { log, text } = arrange();
  log.info({ token: 's3', auth: { apiKey: 's3', inner: { cookie: 's3' } }, headers: { authorization: 's3' } }, 'x');
  assert.doesNotMatch(text(), /s3/);
});

test('an error is logged with name, message, stack and cause, but without other properties', () => {
  const { log, entry } = arrange();
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const err = Object.assign(new TypeError('no answer', { cause }), { requestBody: 'the whole conversation' });
  log.error({ err }, 'the model failed');
  assert.deepEqual(entry().err, {
    type: 'TypeError',
    message: 'no answer',
    stack: err.stack,
    cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED', stack: cause.stack },
  });
});

test('a thrown value that is not an error is logged by its type', () => {
  const { log, entry } = arrange();
  log.error({ err: { secretive: 1 } }, 'odd');
  assert.equal(entry().err, 'object');
});

test('for people, an entry is a line: time, level, message, fields, then the error', () => {
  const { log, text } = arrange({ readable: true });
  log.warn({ port: 1 }, 'the port is odd');
  log.error({ err: 'gone' }, 'lost');
  assert.match(text(), /^\d\d:\d\d:\d\d warn {2}the port is odd \{"port":1\}\n\d\d:\d\d:\d\d error lost \(gone\)\n$/);
});

test('for people, an error’s stack and its causes are indented below the line', () => {
  const { log, text } = arrange({ readable: true });
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
  assert.match(text(), /error failed\n {2}Error: outer\n[\s\S]*\n {2}cause:\n {2}Error: inner\n/);
});

test('while stderr cannot be written, at most some entries wait in memory', {
  skip: process.platform !== 'linux',
}, () => {
  const source = `
    import { createLog } from ${JSON.stringify(new URL('pino-log.ts', import.meta.url))};
    const log = createLog({ level: 'info', readable: false });
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 50_000; i += 1) log.info({ i, text: 'x'.repeat(500) }, 'a full disk');
    gc();
    console.log(process.memoryUsage().heapUsed - before);`;
  const script = 'exec "$@" 2>/dev/full';
  const words = ['-c', script, 'sh', process.execPath, '--expose-gc', '--input-type=module', '--eval', source];
  const grownBy = Number(execFileSync('sh', words, { encoding: 'utf8' }));
  assert.ok(grownBy < 10_000_000, `${grownBy} bytes`);
});
