import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProcess } from '../soak/process-figures.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import type { Answer } from '../support/model/scripted-model.ts';
import {
  callTools,
  endless,
  errorChunk,
  fail,
  garbled,
  hangUp,
  headers,
  pause,
  raw,
  reset,
  respond,
  type Step,
  say,
  stall,
  think,
  truncated,
} from '../support/model/scripted-steps.ts';

const MIB = 1024 * 1024;

/** Longer than a busy machine may delay either process. */
const SILENT_SECS = 3;
const { model, daemon } = await openStage({
  config: { answers: { firstSecs: SILENT_SECS, betweenSecs: SILENT_SECS, retrySecs: 2 } },
});

const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const gzip = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' };
/** One byte each 200 ms: no chunk is ever complete, but the connection is never silent. */
const dripping: Step[] = [...chunk({ content: 'never' })].flatMap((byte) => [raw(byte), pause(200)]);
const manyCalls = Array.from({ length: 10_000 }, () => ({ name: 'list_directory', arguments: { path: '.' } }));

interface Fault {
  answer: Answer;
  /** The reason of the run's end, as shown to people. */
  reason: RegExp;
  /** The text before it. */
  kept?: string;
}

const FAULTS: Record<string, Fault> = {
  'a hang before the headers': { answer: stall(), reason: /silent for 3 seconds/ },
  'headers, then silence': { answer: [headers(), stall()], reason: /silent for 3 seconds/ },
  'silence in mid-stream': { answer: [say('kept'), stall()], reason: /silent for 3 seconds/, kept: 'kept' },
  'a byte now and then': { answer: [say('kept'), ...dripping], reason: /silent for 3 seconds/, kept: 'kept' },
  'comments and nothing else': {
    answer: [say('kept'), ...Array.from({ length: 20 }, () => [raw(': ping\n\n'), pause(200)]).flat()],
    reason: /silent for 3 seconds/,
    kept: 'kept',
  },
  'a reset in mid-stream': {
    answer: [say('kept'), pause(50), reset()],
    reason: /broke off \(ECONNRESET\)/,
    kept: 'kept',
  },
  'an end in mid-stream': { answer: [say('kept'), hangUp()], reason: /broke off/, kept: 'kept' },
  'a truncated chunk': { answer: [say('kept'), truncated()], reason: /broke off/, kept: 'kept' },
  'a garbled chunk': { answer: [say('kept'), garbled()], reason: /broke off/, kept: 'kept' },
  'invalid UTF-8': {
    answer: [say('kept'), raw(Buffer.from([0xff, 0xfe, 0, 1, 2, 0x0a, 0x0a])), hangUp()],
    reason: /broke off/,
    kept: 'kept',
  },
  'an error after 200': {
    answer: [say('kept'), errorChunk('the engine died')],
    reason: /the engine died/,
    kept: 'kept',
  },
  'a call that is cut off': {
    answer: [
      think('hm'),
      say('kept'),
      raw(chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'bash', arguments: '{"comm' } }] })),
      pause(50),
      reset(),
    ],
    reason: /broke off/,
    kept: 'kept',
  },
  'a web page': {
    answer: respond({ 'content-type': 'text/html' }, '<!DOCTYPE html><title>Login</title>'),
    reason: /answered with a web page\. Check its address\./,
  },
  'a JSON object': {
    answer: respond({ 'content-type': 'application/json' }, '{"error":{"message":"model not loaded"}}'),
    reason: /answered with JSON instead of an event stream: .*model not loaded/,
  },
  'compressed garbage': { answer: respond(gzip, 'this is not gzip'), reason: /broke off/ },
  'an error page of a proxy': {
    answer: respond({ 'content-type': 'text/html' }, '<html>Bad Gateway</html>', 502),
    reason: /answered 502: Bad Gateway/,
  },
  'a refusal for an hour': { answer: fail(429, { retryAfterSecs: 3_600 }), reason: /answered 429: scripted 429/ },
  'an overload that lasts': { answer: fail(529, { retryAfterSecs: 0 }), reason: /answered 529: scripted 529/ },
  'an answer without end': {
    answer: endless(chunk({ content: 'x'.repeat(60_000) })),
    reason: /longer than 4000000 characters/,
  },
  'a line without end': {
    answer: [say('kept'), endless('x'.repeat(256 * 1024))],
    reason: /longer than 4000000 characters in one piece/,
    kept: 'kept',
  },
  'a chunk of lines without end': {
    answer: [say('kept'), endless(`data: ${'x'.repeat(256 * 1024)}\n`)],
    reason: /longer than 4000000 characters in one piece/,
    kept: 'kept',
  },
  'ten thousand tool calls': {
    answer: [say('kept'), callTools(...manyCalls)],
    reason: /longer than 128 tool calls/,
    kept: 'kept',
  },
  'a call with 50 MB of arguments': {
    answer: [
      raw(chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'bash', arguments: '{"command":"' } }] })),
      endless(chunk({ tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(50_000) } }] })),
    ],
    reason: /longer than 4000000 characters/,
  },
};

for (const [what, { answer, reason, kept }] of Object.entries(FAULTS)) {
  test(`${what} ends the run once, the partial answer stays, and the next run works`, async () => {
    await using talk = await openConversation(daemon);
    model.when(what, answer);
    const { runId, answer: told } = await talk.ask(what);
    await assert.rejects(told);
    await talk.ended({ runId });
    model.when('all well?', say('yes')); // after the failed text, in the same message
    const next = await talk.ask('all well?');
    await next.answer;
    await talk.ended(next);
    const { runs, messages } = await talk.agree();
    assert.deepEqual(
      runs.map(({ run }) => run.status),
      ['error', 'ok'],
    );
    const [failed] = runs;
    assert.match(failed?.run.error ?? '', reason);
    const partial = messages.filter((message) => message.role === 'assistant').slice(0, -1);
    if (kept !== undefined)
      assert.deepEqual(
        partial.map(({ content }) => content),
        [kept],
      );
    assert.deepEqual(
      failed?.journal.filter(({ kind }) => kind === 'tool_started'),
      [],
    );
    assert.ok((await readProcess(daemon.pid)).rssBytes < 400 * MIB);
  });
}
