import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Contract } from './contract.ts';
import { ERROR_CODES } from './errors.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from './events/gateway.ts';
import { TRANSIENT_EVENTS } from './events/transient.ts';
import type { Endpoint } from './http/endpoint.ts';
import { ENDPOINTS } from './http/index.ts';
import { CONTRACTS } from './index.ts';
import { LIMITS } from './limits.ts';
import { STREAM_EVENTS } from './stream-events.ts';

const contracts = Object.entries<Contract>(CONTRACTS);
const endpoints = Object.values(ENDPOINTS).flatMap((group) => Object.values<Endpoint>(group));

test('methods and gateway events are named noun.verb in lower case, log events in snake case', () => {
  const wireName = /^[a-z]+(?:-[a-z]+)*(?:\.[a-z]+)*$/;
  const names = [...Object.keys(CONTRACTS), ...Object.keys(GATEWAY_EVENTS)];
  const logNames = [...Object.keys(STREAM_EVENTS), ...Object.keys(TRANSIENT_EVENTS)];
  assert.deepEqual(
    names.filter((name) => !wireName.test(name)),
    [],
  );
  assert.deepEqual(
    logNames.filter((name) => !/^[a-z]+(?:_[a-z]+)*$/.test(name)),
    [],
  );
});

test('every method has a summary that is a sentence, and so has every event and endpoint', () => {
  const rows = [...contracts.map(([, row]) => row), ...Object.values<GatewayEventRow>(GATEWAY_EVENTS), ...endpoints];
  assert.deepEqual(
    rows.map(({ summary }) => summary).filter((summary) => !/^[A-Z0-9].*[.]$/s.test(summary)),
    [],
  );
});

/** The protocol allows further fields in presence beacons, and values of wrong types count as absent. */
const LENIENT = ['system-event'];

test('params are a strict object with a name, or ignored', () => {
  const others = contracts.filter(([name, row]) => {
    const params = row.params();
    if (params instanceof z.ZodUnknown || LENIENT.includes(name)) return false;
    const isStrict = params instanceof z.ZodObject && params.def.catchall instanceof z.ZodNever;
    return !isStrict || params.meta()?.id === undefined;
  });
  assert.deepEqual(
    others.map(([name]) => name),
    [],
  );
});

test('results and event payloads have names', () => {
  const results = contracts.map(([name, { result }]) => [name, result()] as const);
  const payloads = Object.entries<GatewayEventRow>(GATEWAY_EVENTS).map(([name, row]) => [name, row.payload] as const);
  assert.deepEqual(
    [...results, ...payloads].filter(([, schema]) => schema.meta()?.id === undefined).map(([name]) => name),
    [],
  );
});

test('a method accepts an idempotency key exactly if its row says so', () => {
  const taken = contracts.map(([name, row]) => {
    const params = row.params();
    const key = params instanceof z.ZodObject ? params.shape.idempotencyKey : undefined;
    if (key === undefined) return [name, undefined];
    return [name, z.safeParse(key, undefined).success ? 'optional' : 'required'];
  });
  assert.deepEqual(
    taken,
    contracts.map(([name, { idempotency }]) => [name, idempotency]),
  );
});

test('no two endpoints share a verb and a path, and each path is lower case', () => {
  const places = endpoints.map(({ verb, path }) => `${verb} ${path}`);
  assert.deepEqual(
    places.filter(
      (place, i) => places.indexOf(place) !== i || !/^(?:get|post|put|delete) \/[a-z0-9/{}+_-]+$/.test(place),
    ),
    [],
  );
});

test('errors after which a retry can succeed are marked as retryable', () => {
  const retryable = Object.entries(ERROR_CODES).filter(([, code]) => code.retryable);
  assert.deepEqual(
    retryable.map(([name]) => name),
    ['BUSY', 'RATE_LIMITED', 'UNAVAILABLE', 'UPSTREAM_FAILED', 'TIMEOUT'],
  );
});

test('the frame limit before connect is not above the limit after it', () => {
  assert.ok(LIMITS.maxPayloadBeforeConnectBytes <= LIMITS.maxPayloadBytes);
  assert.ok(LIMITS.maxPayloadBytes <= LIMITS.maxBufferedBytes);
});
