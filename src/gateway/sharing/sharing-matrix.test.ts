import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Contract } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { CONTRACTS, isMethodName } from '../../../protocol/index.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { type CallAs, callerOf, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { NAMING, type Named, OTHERWISE, REFERRING, TELLING } from './references.ts';

const PERMISSIONS = new Set([...ALL_PERMISSIONS].filter((permission) => permission !== 'workstreams.all'));
const user = (name: string): CallAs => ({ id: `login of ${name}`, userId: `user_${name}`, permissions: PERMISSIONS });
const [ADA, BOB] = [user('ada'), user('bob')];
const OPERATOR: CallAs = { id: 'operator' };
/** Those who do not perceive the workstream of ada's: also without the right to approve, and with that to read alone. */
const STRANGERS: Record<string, CallAs> = {
  'another user with approve': BOB,
  'another user': { id: 'login of cid', userId: 'user_cid', scope: 'write' },
  'another user who may only read': { id: 'login of dan', userId: 'user_dan', scope: 'read' },
  'a token without a user': { id: 'token:t', permissions: PERMISSIONS },
};
const PERCEIVING: Record<string, CallAs> = {
  'the owner': ADA,
  'a holder of workstreams.all': { id: 'login of eve', userId: 'user_eve', permissions: ALL_PERMISSIONS },
  'the operator': OPERATOR,
};

const UNKNOWN: Named = {
  wsId: 'f'.repeat(32),
  alias: 'nowhere-alias',
  label: 'Nowhere label',
  runId: 'nowhere-run',
  queuedId: 'nowhere-queued',
  approvalId: 'nowhere-approval',
  callId: 'nowhere-call',
  memory: 'nowhere_memory',
};

/** In the workstreams of this test, the output guard finds something. */
const looked = async () => ({ output: 'The address is 10.0.0.1.', outcome: 'done' as const });

/** A coordinator of ada's with a message, a call that waits for approval, and a message that waits. */
async function canary(gateway: WholeGateway, visibility: 'shared' | 'private', word = 'canary'): Promise<Named> {
  const { call, puppet } = gateway;
  const label = `The ${word} label`;
  const maker = { ...ADA, permissions: ALL_PERMISSIONS };
  const { wsId } = await call('workstream.create', { name: label, visibility, kind: 'coordinator' }, maker);
  await call('workstream.update', { wsId, name: `${word}-alias` }, ADA);
  await call(
    'memory.save',
    { name: `${word}_memory`, content: `${word} ${word}_memory`, scope: 'workstream', scopeId: wsId },
    ADA,
  );
  await gateway.memories.quarantine.add(
    {
      ...{ name: `${word}_waits`, content: `${word} waits`, description: '', scope: 'workstream', scopeId: wsId },
      type: { type: 'project', isDefault: true },
    },
    { by: 'agent', isTrusted: false, wsId, callId: `${word}-call`, taint: { kind: 'network', target: word } },
  );
  puppet.turn(calling('look', {}, `${word}-looked`));
  puppet.turn(calling('touch', { path: word }, `${word}-call`));
  const key = `${word}-run`;
  const asked = { wsId, message: `${word} message` };
  const { runId = '' } = await call('workstream.send', { ...asked, idempotencyKey: key }, ADA);
  await gateway.reaches(wsId, 'approve_request');
  const queued = { ...asked, queue: true, idempotencyKey: `${word}-queued` };
  const { runId: queuedId = '' } = await call('workstream.send', queued, ADA);
  const [approval] = (await call('approval.list', { wsId }, ADA)).approvals;
  const watch = {
    wsId,
    name: word,
    command: word,
    intervalSecs: 60,
    stopOn: undefined,
    maxPolls: 1,
    allowed: undefined,
  };
  await gateway.background.watches.records.create(watch);
  const approvalId = approval?.approvalId ?? assert.fail('nothing is asked');
  return {
    wsId,
    alias: `${word}-alias`,
    label,
    runId,
    queuedId,
    approvalId,
    callId: `${word}-call`,
    memory: `${word}_memory`,
  };
}

/** How a call is answered, whatever it is. */
async function answerTo({ gateway }: WholeGateway, [method, params]: readonly [string, unknown], as: CallAs) {
  const connection = { add: () => undefined, remove: () => false };
  try {
    return await gateway.dispatch(method, params, callerOf({ ...as, subscriptions: connection }));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, payload, details } = error;
    return { code, message, payload, details };
  }
}

/** Without what differs between any two calls: what was asked for, fresh ids and times. */
function comparable(answer: unknown, named: Named): string {
  let text = JSON.stringify(answer);
  for (const [what, value] of Object.entries(named)) text = text.replaceAll(value, `<${what}>`);
  return text
    .replaceAll(named.wsId.slice(0, 8), '<wsId>')
    .replaceAll(/[0-9a-f]{32}/g, '<id>')
    .replaceAll(/ws-[0-9a-f]{4}/g, '<name>')
    .replaceAll(/(run|msg|matrix)[_-][\w-]+/g, '<id>');
}

/** With verdicts to list. */
const live = { ...LIVE, judge: { ...LIVE.judge, enabled: true } };

const methods = Object.keys(CONTRACTS).filter(isMethodName);

test('every method that could name a workstream is in the matrix', () => {
  const namesOne = ({ params }: Contract) => {
    const { properties = {} } = z.toJSONSchema(params(), { io: 'input', unrepresentable: 'any' });
    return NAMING.some((name) => Object.hasOwn(properties, name));
  };
  const missing = methods.filter(
    (name) => namesOne(CONTRACTS[name]) && !Object.hasOwn({ ...REFERRING, ...OTHERWISE }, name),
  );
  assert.deepEqual(missing, []);
});

test('no method answers differently for the private workstream of another user and for an unknown one', async () => {
  await using gateway = await wholeGateway({ execute: looked, live });
  const hidden = await canary(gateway, 'private');
  const differences: string[] = [];
  for (const [who, as] of Object.entries(STRANGERS))
    for (const [method, toParams] of Object.entries(REFERRING)) {
      const [asked, unknown] = [toParams(hidden), toParams(UNKNOWN)];
      for (const [at, params] of asked.entries()) {
        const answer = comparable(await answerTo(gateway, [method, params], as), hidden);
        const other = comparable(await answerTo(gateway, [method, unknown[at]], as), UNKNOWN);
        if (answer !== other)
          differences.push(`${method} ${JSON.stringify(params)} to ${who}: ${answer} instead of ${other}`);
      }
    }
  assert.deepEqual(differences, []);
  const { snapshot } = await gateway.call('workstream.get', { wsId: hidden.wsId }, ADA);
  const { name, state, visibility, userId } = snapshot.workstream;
  assert.deepEqual([name, state, visibility, userId], [hidden.alias, 'attention', 'private', 'user_ada']);
});

/** Resolves when a call that answers only at the end of its run would have been refused. */
async function afterTurns(turns: number): Promise<string> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  return 'not answered yet';
}

/** Methods whose answer is the same to everybody, with the reason. */
const SAME_TO_ALL: Partial<Record<string, string>> = {
  'events.unsubscribe': 'ends only what the caller follows',
  'agent.wait': 'finds only runs of the caller',
};

test('the owner, and those who see everything, get other answers than for an unknown one from every method', async () => {
  await using gateway = await wholeGateway({ execute: looked, live });
  const same: string[] = [];
  let canaries = 0;
  for (const [method, toParams] of Object.entries(REFERRING)) {
    if (Object.hasOwn(SAME_TO_ALL, method)) continue;
    for (const [who, as] of Object.entries(PERCEIVING)) {
      canaries += 1;
      const hidden = await canary(gateway, 'private', `canary${canaries}`); // another one, because many methods change it
      const [[params], [unknown]] = [toParams(hidden), toParams(UNKNOWN)];
      const answered = answerTo(gateway, [method, params], as);
      const answer = comparable(await Promise.race([answered, afterTurns(100)]), hidden);
      if (answer === comparable(await answerTo(gateway, [method, unknown], as), UNKNOWN))
        same.push(`${method} to ${who}`);
      await answerTo(gateway, ['workstream.delete', { wsId: hidden.wsId }], OPERATOR); // some have been deleted
    }
  }
  assert.deepEqual(same, []);
});

test('nothing tells another user of a private workstream, and a shared one is told of', async () => {
  await using gateway = await wholeGateway({ execute: looked, live });
  const hidden = await canary(gateway, 'private');
  const shown = await canary(gateway, 'shared', 'open');
  const heard = async (as: CallAs) => {
    const answers: unknown[] = [];
    for (const [method, asked] of Object.entries(TELLING))
      for (const params of asked) answers.push(await answerTo(gateway, [method, params], as));
    return JSON.stringify(answers);
  };
  const [bob, ada] = [await heard(BOB), await heard(ADA)];
  const words = (named: Named) => [...new Set(['canary', ...Object.values(named)])];
  assert.deepEqual(
    words(hidden).filter((word) => bob.includes(word)),
    [],
  );
  assert.deepEqual(
    [hidden.wsId, hidden.alias, hidden.approvalId, shown.wsId].map((word) => [ada.includes(word)]),
    [[true], [true], [true], [true]],
  );
  assert.ok(bob.includes(shown.wsId) && bob.includes(shown.approvalId));
});
