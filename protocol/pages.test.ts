import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { CLOSINGS } from './closings.ts';
import type { Contract } from './contract.ts';
import { boundsTable } from './documents/bounds.ts';
import { ERROR_CODES } from './errors.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from './events/gateway.ts';
import { TRANSIENT_EVENTS } from './events/transient.ts';
import type { Endpoint } from './http/endpoint.ts';
import { ENDPOINTS } from './http/index.ts';
import { CONTRACTS } from './index.ts';
import { LIMITS } from './limits.ts';
import { STREAM_EVENTS } from './stream-events.ts';

const readPage = (page: string) => readFile(new URL(`../${page}`, import.meta.url), 'utf8');

/** The cells of the table rows below a heading, by their first cell, without backticks. */
function tableBelow(text: string, heading: string): Map<string, string[]> {
  const [, section = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const rows = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  return new Map(cells.map(([, name = '', ...rest]) => [name, rest]));
}

const protocolPage = await readPage('PROTOCOL.md');
const httpPage = await readPage('HTTP.md');
const methodRows = tableBelow(protocolPage, 'Methods');
const eventRows = tableBelow(protocolPage, 'Events');
const closingRows = tableBelow(protocolPage, 'While it is open');
const errorRows = tableBelow(protocolPage, 'Errors');
const callRows = tableBelow(httpPage, 'Calls');
const streamRows = tableBelow(httpPage, 'Events');

test('PROTOCOL.md has every method with its scope and whether it accepts a key', () => {
  const methods = Object.entries<Contract>(CONTRACTS);
  assert.deepEqual(
    methods.map(([name]) => [name, methodRows.get(name)?.[0], methodRows.get(name)?.[2]]),
    methods.map(([name, { scope, idempotency = '' }]) => [name, scope, idempotency]),
  );
});

test('PROTOCOL.md has the weight of every method that counts as more than one request', () => {
  const [, listed = ''] = /^Weights: ([^.]*(?:\.[a-z][^.]*)*)\.$/ms.exec(protocolPage) ?? [];
  const weights = [...listed.matchAll(/`([^`]+)` (\d+)/g)].map(([, name, weight]) => [name, Number(weight)]);
  const heavy = Object.entries<Contract>(CONTRACTS).filter(([, { weight }]) => weight !== undefined);
  assert.deepEqual(
    weights,
    heavy.map(([name, { weight }]) => [name, weight]),
  );
});

test('PROTOCOL.md names the params and the result of every method as the schema document does', () => {
  const wrong = Object.entries<Contract>(CONTRACTS).filter(([name, { params, result }]) => {
    const [given = '', answered = ''] = (methodRows.get(name)?.[1] ?? '').split(' → ');
    const isParams = [params().meta()?.id ?? 'ignored', '{}'].includes(given);
    return !(isParams && answered.split(', then ').at(-1) === result().meta()?.id);
  });
  assert.deepEqual(
    wrong.map(([name]) => name),
    [],
  );
});

test('PROTOCOL.md has every event with its payload, its scope and whether it is numbered and skipped', () => {
  const events = Object.entries<GatewayEventRow>(GATEWAY_EVENTS);
  const yes = (is: boolean) => (is ? 'yes' : '');
  assert.deepEqual(
    events.map(([name]) => [name, ...(eventRows.get(name)?.slice(0, 4) ?? [])]),
    events.map(([name, { payload, scope, sequenced, dropIfSlow }]) => [
      name,
      payload.meta()?.id,
      scope,
      yes(sequenced),
      name === 'workstream' ? 'waits' : yes(dropIfSlow),
    ]),
  );
});

test('PROTOCOL.md has every error code and whether it is retryable', () => {
  const codes = Object.entries(ERROR_CODES);
  assert.deepEqual(
    codes.map(([name]) => [name, errorRows.get(name)?.[0]]),
    codes.map(([name, { retryable }]) => [name, retryable ? 'yes' : 'no']),
  );
});

test('PROTOCOL.md has every closing with its code, its reason and who may reconnect', () => {
  const closings = Object.entries(CLOSINGS);
  assert.deepEqual(
    [...closingRows]
      .filter(([, cells]) => /^\d{4}$/.test(cells[0] ?? ''))
      .map(([name, cells]) => [name, ...cells.slice(0, 3)]),
    closings.map(([name, { code, reason, retry }]) => [name, `${code}`, reason, retry]),
  );
});

test('HTTP.md has every endpoint with its scope', () => {
  const endpoints = Object.values(ENDPOINTS).flatMap((group) => Object.values<Endpoint>(group));
  const places = endpoints.map(({ verb, path }) => `${verb.toUpperCase()} ${path}`);
  assert.deepEqual(
    places.map((place) => callRows.get(place)?.[0]),
    endpoints.map(({ scope }) => scope),
  );
});

test('HTTP.md has every event of a stream, and PROTOCOL.md every event of the log', () => {
  const named = new Set([...streamRows.keys()].flatMap((name) => name.split(', ')));
  const all = [...Object.keys(STREAM_EVENTS), ...Object.keys(TRANSIENT_EVENTS)];
  assert.deepEqual(
    all.filter((name) => !named.has(name)),
    [],
  );
  assert.deepEqual(
    Object.keys(STREAM_EVENTS).filter((name) => !protocolPage.includes(`\`${name}\``)),
    [],
  );
});

test('PROTOCOL.md has all bounds of params, as `npm run generate` writes them', () => {
  const [, written = ''] = /<!-- bounds: [^\n]*-->\n([\s\S]*)<!-- end of bounds -->/.exec(protocolPage) ?? [];
  assert.equal(written.trim(), boundsTable());
  assert.match(written, /`chat.history` \| `limit`: 1 to 1000 /);
  assert.match(written, /`wake` \| `text`: at most 65536 characters, plain /);
});

test('the bounds outside the rows match the code', () => {
  const [, others = ''] = /^Other bounds: (.*)$/ms.exec(protocolPage) ?? [];
  for (const bound of [LIMITS.apiTokens, LIMITS.inlineAttachmentBytes])
    assert.ok(others.includes(` ${bound} `), `${bound}`);
});
