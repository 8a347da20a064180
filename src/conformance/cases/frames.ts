import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CLOSINGS } from '../../../protocol/closings.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import { needs } from '../lab.ts';
import { expectEqual, expectThat, Inapplicable } from '../verdict.ts';
import { closedAs } from '../wire.ts';

/** How many requests to send at most in search of the rate limit. */
const MOST_REQUESTS = 1_000;

const Login = z.object({ jwt: z.string() });
const Seq = z.object({ seq: z.int() });

export const frameCases: ConformanceCase[] = [
  {
    must: 'A frame that is not JSON must be answered INVALID_REQUEST under the id `invalid` and leave the connection open',
    async run(lab) {
      const session = await lab.connect();
      session.send('{"type":"req"');
      const { error } = await session.until('an answer under the id `invalid`', (frame) =>
        frame.type === 'res' && frame.id === 'invalid' ? frame : undefined,
      );
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer');
      await session.call('health');
    },
  },
  {
    must: 'A frame with an unknown property must be answered INVALID_REQUEST under its own id and leave the connection open',
    async run(lab) {
      const session = await lab.connect();
      session.send('{"type":"req","id":"mine","method":"health","surprise":1}');
      const { error } = await session.until('an answer under its own id', (frame) =>
        frame.type === 'res' && frame.id === 'mine' ? frame : undefined,
      );
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer');
      await session.call('health');
    },
  },
  {
    must: 'An unknown method must be answered INVALID_REQUEST with its name',
    async run(lab) {
      const session = await lab.connect();
      for (const method of ['conformance.surprise', '__proto__']) {
        const { error } = await session.request(method);
        expectEqual(error?.code, 'INVALID_REQUEST', `the answer to ${method}`);
        expectThat(error?.message.includes(method) === true, `${method} is not named: ${error?.message}`);
      }
    },
  },
  {
    must: 'Params with an unknown property must be answered INVALID_REQUEST, naming its place',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'workstream.list');
      const { error } = await session.request('workstream.list', { surprise: 1 });
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer');
      expectThat(error?.message.includes('surprise') === true, `the place is not named: ${error?.message}`);
    },
  },
  {
    must: 'Missing params must count as an empty object',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'workstream.list');
      await session.call('workstream.list');
    },
  },
  {
    must: 'An empty optional string of params must count as absent',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'cron.preview', 'sessions.resolve', 'agent.wait');
      const schedule = { kind: 'cron', expr: '0 9 * * *' };
      const given = { count: 1, fromMs: 0 };
      const [without, empty] = [
        await session.call('cron.preview', { ...given, schedule }),
        await session.call('cron.preview', { ...given, schedule: { ...schedule, tz: '' }, tz: '' }),
      ];
      expectEqual(empty, without, 'the preview with empty zones');
      const resolved = await session.request('sessions.resolve', { key: 'main', sessionId: '', label: '' });
      expectEqual(resolved.ok, true, 'whether the key alone finds the session');
      const { error } = await session.request('agent.wait', { runId: randomUUID(), sessionKey: '' });
      expectEqual(error?.code, 'NOT_FOUND', 'the answer to agent.wait with an empty key');
    },
  },
  {
    must: 'Broadcast events must carry `seq` without gaps, even if the connection may not see all events',
    async run(lab) {
      const session = await lab.connect();
      const watchers = [await lab.connect(), await lab.connect((await lab.makeReader(session)).token)];
      const made = [await lab.makeWorkstream(session), await lab.makeWorkstream(session)];
      for (const watcher of watchers) {
        for (const wsId of made) {
          await watcher.until(
            `workstream.opened for ${wsId}`,
            (frame) =>
              (frame.type === 'event' && frame.event === 'workstream.opened' && isAbout(frame.payload, wsId)) ||
              undefined,
          );
        }
        const seqs = watcher.frames.flatMap((frame) => Seq.safeParse(frame).data?.seq ?? []);
        const expected = seqs.map((_, i) => (seqs[0] ?? 0) + i);
        expectEqual(seqs, expected, 'the seq of the events');
      }
    },
  },
  {
    must: 'A frame over `policy.maxPayload` must be closed with 1009',
    async run(lab) {
      const session = await lab.connect();
      const { maxPayload } = session.hello.policy;
      if (maxPayload > 32 * 1024 * 1024) throw new Inapplicable(`maxPayload is ${maxPayload} bytes`);
      session.send(JSON.stringify({ type: 'req', id: 'big', method: 'health', params: 'x'.repeat(maxPayload) }));
      expectEqual((await session.closed()).code, CLOSINGS.frame_too_large.code, 'the close code');
    },
  },
  {
    must: 'Requests beyond the burst must be answered RATE_LIMITED with `retryAfterMs`',
    async run(lab) {
      const session = await lab.connect();
      for (let asked = 0; asked < MOST_REQUESTS; asked += 100) {
        const answers = await Promise.all(Array.from({ length: 100 }, () => session.request('health')));
        const refused = answers.find(({ ok }) => !ok)?.error;
        if (refused === undefined) continue;
        expectEqual([refused.code, refused.retryable], ['RATE_LIMITED', true], 'the refusal');
        expectThat((refused.retryAfterMs ?? 0) > 0, 'the error has no retryAfterMs');
        return;
      }
      throw new Inapplicable(`no rate limit within ${MOST_REQUESTS} requests`);
    },
  },
  {
    must: 'A `tick` event must come every `policy.tickIntervalMs`',
    slow: true,
    async run(lab) {
      const session = await lab.connect();
      const { tickIntervalMs } = session.hello.policy;
      if (tickIntervalMs > 120_000) throw new Inapplicable(`tickIntervalMs is ${tickIntervalMs}`);
      const deadlineMs = performance.now() + 1.25 * tickIntervalMs;
      while (session.events('tick').length === 0) {
        expectThat(performance.now() < deadlineMs, `no tick within ${1.25 * tickIntervalMs} ms`);
        await session.request('health');
        await session
          .until('a tick', (frame) => (frame.type === 'event' && frame.event === 'tick') || undefined)
          .catch(() => undefined);
      }
    },
  },
  {
    must: 'A call without the scope of its method must be answered FORBIDDEN',
    async run(lab) {
      const reader = await lab.connect((await lab.makeReader(await lab.connect())).token);
      const { error } = await reader.request('workstream.close', { wsId: randomUUID() });
      expectEqual(error?.code, 'FORBIDDEN', 'the answer');
    },
  },
  {
    must: 'Revoking a token must end open sockets, streams and logins under it within a second',
    async run(lab) {
      const session = await lab.connect();
      const { token, tokenId } = await lab.makeReader(session);
      const reader = await lab.connect(token);
      const startMs = performance.now();
      await session.call('token.revoke', { tokenId });
      expectEqual(await reader.closed(), closedAs('unauthorized'), 'the close');
      expectThat(performance.now() - startMs < 1_500, 'it took longer than a second');
    },
  },
  {
    must: 'The open sockets of a revoked login must be closed with 1008 `unauthorized`',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'auth.login', 'auth.logout');
      if (lab.server.token === undefined) throw new Inapplicable('there is no token to log in with');
      const { jwt } = Login.parse(await session.call('auth.login', { token: lab.server.token }));
      const [page, other] = [await lab.connect(jwt), await lab.connect(jwt)];
      await page.request('auth.logout', {}).catch(() => undefined); // its own socket may end before the answer
      expectEqual(await other.closed(), closedAs('unauthorized'), 'the close');
    },
  },
];

const isAbout = (payload: unknown, wsId: string) => JSON.stringify(payload).includes(wsId);
