import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { CLOSINGS } from '../../../protocol/closings.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import type { Lab } from '../lab.ts';
import { expectEqual, expectThat, Inapplicable } from '../verdict.ts';
import { closedAs } from '../wire.ts';

const INVALID_HANDSHAKE = closedAs('invalid_handshake');

/** Sends a text as the first frame. Returns the answer and how the connection ended. */
async function greet(lab: Lab, text: string) {
  const wire = await lab.open();
  wire.send(text);
  const { code, reason } = await wire.closed();
  const [first] = wire.frames;
  const error = first?.type === 'res' ? first.error : undefined;
  return { count: wire.frames.length, error, end: { code, reason } };
}

const connectFrame = (params: unknown) => JSON.stringify({ type: 'req', id: '1', method: 'connect', params });

async function needsAuthentication(lab: Lab): Promise<void> {
  const wire = await lab.open();
  const { ok } = await wire.request('connect', { ...lab.connectParams(), auth: undefined });
  if (ok) throw new Inapplicable('this server requires no token');
}

export const handshakeCases: ConformanceCase[] = [
  {
    must: 'The answer to `connect` must be the first frame that a client receives',
    async run(lab) {
      const { frames } = await lab.connect();
      expectEqual(frames[0]?.type, 'res', 'the first frame');
    },
  },
  {
    must: '`features.methods` must list every method that the caller may use, except `connect`',
    async run(lab) {
      const session = await lab.connect();
      const listed = new Set(session.hello.features.methods);
      expectThat(!listed.has('connect'), 'connect is listed');
      for (const method of Object.keys(CONTRACTS).filter((name) => name !== 'connect' && !listed.has(name))) {
        let { error } = await session.request(method, { conformance: true });
        while (error?.code === 'RATE_LIMITED') {
          await lab.pause(error.retryAfterMs ?? 1_000); // a quick server gets more of these requests than its limit allows
          ({ error } = await session.request(method, { conformance: true }));
        }
        const isRefused = error?.code === 'FORBIDDEN' || error?.message === `unknown method: ${method}`;
        expectThat(isRefused, `${method} is not listed but was answered ${error?.code ?? 'ok'}: ${error?.message}`);
      }
    },
  },
  {
    must: 'A second `connect` must be answered INVALID_REQUEST and leave the connection open',
    async run(lab) {
      const session = await lab.connect();
      const { error } = await session.request('connect', lab.connectParams());
      expectEqual(error?.code, 'INVALID_REQUEST', 'the second answer');
      await session.call('health');
    },
  },
  {
    must: 'A first frame that is not JSON must be closed with 1000 and get no answer',
    async run(lab) {
      const { count, end } = await greet(lab, '{');
      expectEqual({ count, code: end.code }, { count: 0, code: CLOSINGS.no_handshake.code }, 'answers and close code');
    },
  },
  {
    must: 'A first frame that is not a request must be closed with 1008 `invalid handshake` and get no answer',
    async run(lab) {
      for (const text of ['3', 'null', '{}', '{"type":"event","event":"tick"}']) {
        const { count, end } = await greet(lab, text);
        expectEqual({ count, ...end }, { count: 0, ...INVALID_HANDSHAKE }, `after ${text}`);
      }
    },
  },
  {
    must: 'A first request other than `connect` must be refused and closed with 1008 `invalid handshake`',
    async run(lab) {
      const { error, end } = await greet(lab, '{"type":"req","id":"1","method":"health"}');
      expectEqual({ code: error?.code, end }, { code: 'INVALID_REQUEST', end: INVALID_HANDSHAKE }, 'the answer');
    },
  },
  {
    must: 'Invalid `connect` params must be refused and closed with 1008 `invalid handshake`',
    async run(lab) {
      for (const params of [undefined, {}, { ...lab.connectParams(), surprise: 1 }]) {
        const { error, end } = await greet(lab, connectFrame(params));
        expectEqual({ code: error?.code, end }, { code: 'INVALID_REQUEST', end: INVALID_HANDSHAKE }, 'the answer');
      }
    },
  },
  {
    must: 'A protocol range without 2 must be refused with the expected version and closed with 1002',
    async run(lab) {
      const params = { ...lab.connectParams(), minProtocol: 90, maxProtocol: 99 };
      const { error, end } = await greet(lab, connectFrame(params));
      const told = { code: error?.code, details: error?.details, close: end.code };
      const details = { expectedProtocol: LIMITS.protocolVersion };
      const expected = { code: 'INVALID_REQUEST', details, close: CLOSINGS.protocol_mismatch.code };
      expectEqual(told, expected, 'the answer');
    },
  },
  {
    must: 'A protocol range without 2 must be reported before any other error in `connect`',
    async run(lab) {
      const params = { minProtocol: 7, maxProtocol: 9, client: 'of a later version', auth: { token: 'wrong' } };
      const { error, end } = await greet(lab, connectFrame(params));
      expectEqual(error?.details, { expectedProtocol: LIMITS.protocolVersion }, 'the details');
      expectEqual(end, closedAs('protocol_mismatch'), 'the end');
    },
  },
  {
    must: 'A missing or wrong token must be refused as UNAUTHORIZED and closed with 1008',
    async run(lab) {
      await needsAuthentication(lab);
      for (const auth of [undefined, { token: 'conformance' }]) {
        const { error, end } = await greet(lab, connectFrame({ ...lab.connectParams(), auth }));
        const told = { code: error?.code, close: end.code };
        expectEqual(told, { code: 'UNAUTHORIZED', close: CLOSINGS.unauthorized.code }, 'the answer');
      }
    },
  },
  {
    must: 'A connection that sends nothing for ten seconds must be closed with 1000',
    slow: true,
    async run(lab) {
      const wire = await lab.open();
      const startMs = performance.now();
      const { code } = await wire.closed();
      const seconds = (performance.now() - startMs) / 1000;
      expectEqual(code, CLOSINGS.no_handshake.code, 'the close code');
      expectThat(seconds > 8, `it was closed after ${seconds.toFixed(1)} s`);
    },
  },
  {
    must: 'An upgrade with an unknown host name must be answered 403',
    async run(lab) {
      expectEqual(await upgradeAs(lab, 'conformance.invalid'), 403, 'the status');
    },
  },
  {
    must: 'A frame over 64 KiB before hello-ok must be closed with 1009',
    async run(lab) {
      const { end } = await greet(lab, connectFrame({ surprise: 'x'.repeat(LIMITS.maxPayloadBeforeConnectBytes) }));
      expectEqual(end.code, CLOSINGS.frame_too_large.code, 'the close code');
    },
  },
];

/** The status of the answer to an upgrade request with this Host header. */
function upgradeAs({ server }: Lab, host: string): Promise<number | undefined> {
  const url = new URL(server.url.replace(/^ws/, 'http'));
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const headers = {
    Host: host,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  return new Promise((resolve, reject) => {
    const sent = send(url, { headers });
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('upgrade', ({ statusCode }, socket) => {
      socket.destroy();
      resolve(statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
}
