import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { CallWait } from './call-wait.ts';
import { openResponse } from './open-response.ts';
import { ServiceError } from './service-error.ts';

const REFUSALS = {
  500: { kind: 'ambiguous' },
  502: { kind: 'ambiguous' },
  408: { kind: 'ambiguous' },
  429: { kind: 'rate-limited', retryAfterMs: 7_000 },
  404: { kind: 'rejected' },
  403: { kind: 'rejected' },
} as const;

for (const [status, expected] of Object.entries(REFUSALS))
  test(`a download that is answered with HTTP ${status} is ${expected.kind}`, async () => {
    using wait = new CallWait({ signal: new AbortController().signal, timeoutMs: 1_000 }, fakeClock());
    const response = new Response('no', { status: Number(status), headers: { 'retry-after': '7' } });
    const opening = openResponse(response, {
      ...{ maxBytes: 99, wait, scrub: (text) => text, service: 'The service' },
      toError: (...args) => new ServiceError(...args),
    });
    await assert.rejects(opening, { retryAfterMs: undefined, code: Number(status), ...expected });
  });
