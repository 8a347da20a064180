import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CLOSINGS } from '../../../protocol/closings.ts';
import type { ResponseFrame } from '../../../protocol/frames.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import { type Lab, needs, type Session } from '../lab.ts';
import { expectEqual, expectThat, Inapplicable } from '../verdict.ts';

const OPERATOR = ['node.pair.approve', 'node.pair.reject', 'node.token.revoke', 'node.describe', 'node.invoke'];
/** A command that is known to run no programs, so that servers allow it by default. */
const COMMAND = 'system.info';

const Pairing = z.object({ request: z.object({ requestId: z.string() }), created: z.boolean() });
const Approved = z.object({ node: z.object({ token: z.string() }) });
const Token = z.object({ requestId: z.string(), nodeId: z.string(), token: z.string() });
const Asked = z.object({ id: z.string(), nodeId: z.string() });

/** A session that may approve, and an unpaired machine. */
async function meet(lab: Lab) {
  const operator = await lab.connect();
  needs(operator, ...OPERATOR);
  const nodeId = `conformance-${randomUUID()}`;
  return { operator, nodeId, stranger: await greetAs(lab, nodeId) };
}

/** How long a server may take to notice that the unpaired nodes of the previous case have disconnected. */
const GONE_MS = 5_000;
const LOOK_MS = 100;

/** A connection of mode `node`. Inapplicable if the server accepts no further one. */
async function greetAs(lab: Lab, nodeId: string, token?: string): Promise<Session> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const answered = await lab.greetAsNode(nodeId, token);
    if ('hello' in answered) return answered;
    if (waitedMs >= GONE_MS) throw new Inapplicable(`this server accepts no node: ${answered.error?.message}`);
    await lab.pause(LOOK_MS);
  }
}

const ask = async (machine: Session, nodeId: string, commands: string[]) =>
  Pairing.parse(await machine.call('node.pair.request', { nodeId, commands }));

async function approve(lab: Lab, operator: Session, { nodeId, requestId }: { nodeId: string; requestId: string }) {
  const { node } = Approved.parse(await operator.call('node.pair.approve', { requestId }));
  lab.takeBack(async () => (await lab.connect()).request('node.token.revoke', { nodeId }));
  return node.token;
}

/** A paired and connected node, and a session that may send it commands. */
async function pair(lab: Lab) {
  const { operator, nodeId, stranger } = await meet(lab);
  const { request } = await ask(stranger, nodeId, [COMMAND]);
  const token = await approve(lab, operator, { nodeId, requestId: request.requestId });
  stranger.close();
  return { operator, nodeId, token, node: await greetAs(lab, nodeId, token) };
}

/** The `n`th command sent to the node. */
const commandOf = (node: Session, n = 1) =>
  node.until('a command for the node', () => {
    const sent = node.events('node.invoke.request')[n - 1];
    return sent && Asked.parse(sent.payload);
  });

const answerWith = (node: Session, { id, nodeId }: z.infer<typeof Asked>, payload: unknown) =>
  node.call('node.invoke.result', { id, nodeId, ok: true, payload });

const Answer = z.object({ payload: z.unknown() });
const payloadOf = ({ payload }: ResponseFrame) => Answer.safeParse(payload).data?.payload;

const pairingCases: ConformanceCase[] = [
  {
    must: 'An unpaired machine must be able to request pairing and nothing else',
    async run(lab) {
      const { stranger } = await meet(lab);
      expectEqual(stranger.hello.features.methods, ['node.pair.request'], 'its methods');
      expectEqual(stranger.hello.snapshot.presence, [], 'its presence list');
      for (const method of ['health', 'node.list', 'agent']) {
        const { error } = await stranger.request(method, {});
        expectEqual(error?.code, 'FORBIDDEN', `the answer to ${method}`);
      }
    },
  },
  {
    must: 'An address must be limited to 4 unpaired nodes; the next one is answered BUSY and closed with 1013',
    async run(lab) {
      const { nodeId } = await meet(lab);
      for (const nth of [2, 3, 4]) await greetAs(lab, `${nodeId}-${nth}`);
      const further = await lab.greetAsNode(`${nodeId}-5`);
      expectThat(!('hello' in further), 'a fifth unpaired node was accepted');
      expectEqual(further.error?.code, 'BUSY', 'the answer to the fifth');
    },
  },
  {
    must: 'A repeated pairing request must return the pending one, unless it names other commands',
    async run(lab) {
      const { nodeId, stranger } = await meet(lab);
      const first = await ask(stranger, nodeId, [COMMAND]);
      const again = await ask(stranger, nodeId, [COMMAND]);
      expectEqual([first.created, again.created], [true, false], 'whether a request was created');
      expectEqual(again.request.requestId, first.request.requestId, 'the request of the repeat');
      const other = await ask(stranger, nodeId, [COMMAND, 'conformance.other']);
      expectThat(
        other.request.requestId !== first.request.requestId,
        'a request with other commands returned the same request',
      );
    },
  },
  {
    must: 'A connection must not join a pairing request that another connection made under the same id',
    async run(lab) {
      const { nodeId, stranger } = await meet(lab);
      await ask(stranger, nodeId, [COMMAND]);
      const intruder = await greetAs(lab, nodeId);
      const { ok } = await intruder.request('node.pair.request', { nodeId, commands: [COMMAND] });
      expectEqual(ok, false, 'whether it could join the request');
    },
  },
  {
    must: 'Approving a node must send its token on the requesting connection and in the answer to the approver',
    async run(lab) {
      const { operator, nodeId, stranger } = await meet(lab);
      const { request } = await ask(stranger, nodeId, [COMMAND]);
      const token = await approve(lab, operator, { nodeId, requestId: request.requestId });
      const told = await stranger.until('the token', () => stranger.events('node.pair.token')[0]);
      expectEqual(Token.parse(told.payload), { requestId: request.requestId, nodeId, token }, 'the event for the node');
      await greetAs(lab, nodeId, token);
    },
  },
  {
    must: 'A node’s token must appear in no answer except the one that creates it, and must not be stored',
    async run(lab) {
      const { operator, nodeId, token } = await pair(lab);
      needs(operator, 'node.pair.list', 'node.list');
      const told = [
        await operator.call('node.pair.list', {}),
        await operator.call('node.list', {}),
        await operator.call('node.describe', { nodeId }),
        operator.events('node.pair.resolved'),
      ];
      expectThat(!JSON.stringify(told).includes(token), 'the token appears in another answer');
    },
  },
  {
    must: 'A changed list of commands must take effect only after a new approval',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const { request } = await ask(node, nodeId, [COMMAND, 'conformance.other']);
      const params = { nodeId, command: 'conformance.other', idempotencyKey: randomUUID() };
      const { error } = await operator.request('node.invoke', params);
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer before the approval');
      await operator.call('node.pair.reject', { requestId: request.requestId });
    },
  },
  {
    must: 'A connection of mode `node` must have only the rights of its node, and a node’s token must be valid only there',
    async run(lab) {
      const { nodeId, token } = await pair(lab);
      const posing = await lab.greetAsNode(nodeId, lab.server.token);
      const methods = 'hello' in posing ? posing.hello.features.methods : [];
      expectThat(!methods.includes('health'), 'in mode `node`, the operator’s token has the operator’s rights');
      const { error } = await (await lab.open()).request('connect', lab.connectParams(token));
      if (lab.server.token !== undefined) expectEqual(error?.code, 'UNAUTHORIZED', 'the answer to the node’s token');
    },
  },
  {
    must: 'Rotating or revoking a node’s token must end its open connections at once',
    async run(lab) {
      const { operator, nodeId, token, node } = await pair(lab);
      await operator.call('node.token.revoke', { nodeId });
      expectEqual((await node.closed()).code, CLOSINGS.unauthorized.code, 'the close code');
      const back = await lab.greetAsNode(nodeId, token);
      expectThat(!('hello' in back), 'the revoked token is still valid');
    },
  },
  {
    must: 'If a node has two connections, the newer one must replace the older one, whose end must change nothing',
    async run(lab) {
      const { operator, nodeId, token, node } = await pair(lab);
      const newer = await greetAs(lab, nodeId, token);
      await node.closed();
      const answer = operator.request('node.invoke', { nodeId, command: COMMAND, idempotencyKey: randomUUID() });
      await answerWith(newer, await commandOf(newer), 'newer');
      expectEqual(payloadOf(await answer), 'newer', 'the answer');
    },
  },
];

const commandCases: ConformanceCase[] = [
  {
    must: 'A waiting request must not delay the requests after it',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const answer = operator.request('node.invoke', { nodeId, command: COMMAND, idempotencyKey: randomUUID() });
      const asked = await commandOf(node);
      await operator.call('health');
      await answerWith(node, asked, 'done');
      expectEqual(payloadOf(await answer), 'done', 'the awaited answer');
    },
  },
  {
    must: '`node.invoke` must return the answer of the node',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const answer = operator.request('node.invoke', { nodeId, command: COMMAND, idempotencyKey: randomUUID() });
      await answerWith(node, await commandOf(node), { seen: [1] });
      expectEqual(payloadOf(await answer), { seen: [1] }, 'the answer');
    },
  },
  {
    must: 'A command that was not approved with the node must be refused before it is sent',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const params = { nodeId, command: 'conformance.unnamed', idempotencyKey: randomUUID() };
      const { error } = await operator.request('node.invoke', params);
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer');
      expectEqual(node.events('node.invoke.request').length, 0, 'commands sent to the node');
    },
  },
  {
    must: 'Repeating `node.invoke` with the same key must run the command only once, even after a restart',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const params = { nodeId, command: COMMAND, idempotencyKey: randomUUID() };
      const answers = [operator.request('node.invoke', params), operator.request('node.invoke', params)];
      await answerWith(node, await commandOf(node), 7);
      answers.push(operator.request('node.invoke', params));
      expectEqual((await Promise.all(answers)).map(payloadOf), [7, 7, 7], 'the answers');
      expectEqual(node.events('node.invoke.request').length, 1, 'commands sent to the node');
    },
  },
  {
    must: 'A result that arrives after the deadline must be stored and returned to a repeat',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const params = { nodeId, command: COMMAND, timeoutMs: 200, idempotencyKey: randomUUID() };
      const { error } = await operator.request('node.invoke', params);
      expectEqual(error?.code, 'TIMEOUT', 'the answer at the deadline');
      await answerWith(node, await commandOf(node), 'late');
      expectEqual(payloadOf(await operator.request('node.invoke', params)), 'late', 'the answer to a repeat');
    },
  },
  {
    must: 'A node must not be able to answer for another node or to answer twice',
    async run(lab) {
      const { operator, nodeId, node } = await pair(lab);
      const answer = operator.request('node.invoke', { nodeId, command: COMMAND, idempotencyKey: randomUUID() });
      const asked = await commandOf(node);
      const forAnother = { id: asked.id, nodeId: 'conformance-other', ok: true };
      const { error } = await node.request('node.invoke.result', forAnother);
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer to a result for another node');
      await answerWith(node, asked, 'first');
      expectEqual(await answerWith(node, asked, 'second'), { ok: true, ignored: true }, 'the second answer');
      expectEqual(payloadOf(await answer), 'first', 'the answer to the caller');
    },
  },
];

/** Cases of pairing, and of commands of a paired node. */
export const nodeCases: ConformanceCase[] = [...pairingCases, ...commandCases];
