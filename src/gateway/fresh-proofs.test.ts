import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Contract } from '../../protocol/contract.ts';
import { CONTRACTS } from '../../protocol/index.ts';
import type { Principal } from './auth/principal.ts';
import { Proof } from './auth/proof.ts';
import type { ServedMethod } from './call.ts';
import { type CallAs, callerOf, type WholeGateway, wholeGateway } from './testing/whole-gateway.ts';

type Made = Awaited<ReturnType<typeof makeTargets>>;
type Asked = [ServedMethod, (made: Made) => object];

const JOB = {
  schedule: { kind: 'every', everyMs: 86_400_000 },
  sessionTarget: 'isolated',
  wakeMode: 'now',
  payload: { kind: 'agentTurn', message: 'tidy up' },
} as const;
const SCHEDULE = {
  ...{ name: 'nightly', scheduleType: 'cron', cronExpr: '0 3 * * *', targetMode: 'auto', initialMessage: 'tidy up' },
};
const ALLOW = { mode: 'allow' as const, tools: ['touch'] };

/** Everything that lets calls run without asking, or says what such calls do. */
const ALLOWING: Asked[] = [
  ['workstream.create', () => ({ autoApprove: true })],
  ['workstream.create', () => ({ autoApproveTools: ['touch'] })],
  ['workstream.create', () => ({ wsTemplate: 'bold' })],
  ['workstream.create', () => ({ skill: 'bold' })],
  ['workstream.update', ({ wsId }) => ({ wsId, autoApprove: true })],
  ['workstream.update', ({ wsId }) => ({ wsId, readable: ['/usr'] })],
  ['workstream.approve', ({ wsId }) => ({ wsId, approved: true, always: true })],
  ['approval.resolve', () => ({ approvalId: 'nobody', approved: true, always: true })],
  ['skill.create', () => ({ name: 'new', description: 'x', content: 'x', autoApprove: true })],
  ['skill.create', () => ({ name: 'new', description: 'x', content: 'x', allowedTools: ['touch'] })],
  ['skill.update', ({ skillId }) => ({ skillId, allowedTools: ['touch'] })],
  ['skill.update', ({ skillId }) => ({ skillId, content: 'evil' })],
  ['wstemplate.create', () => ({ name: 'new', autoApprove: true })],
  ['wstemplate.create', () => ({ name: 'new', autoApproveTools: 'touch' })],
  ['wstemplate.update', ({ wsTemplateId }) => ({ wsTemplateId, autoApproveTools: 'touch' })],
  ['wstemplate.update', ({ wsTemplateId }) => ({ wsTemplateId, systemPrompt: 'evil' })],
  ['wstemplate.update', ({ disabledId: wsTemplateId }) => ({ wsTemplateId, enabled: true })],
  ['cron.add', () => ({ ...JOB, approval: ALLOW })],
  ['cron.update', ({ deniedId: id }) => ({ id, patch: { approval: ALLOW } })],
  ['cron.update', ({ jobId: id }) => ({ id, patch: { payload: { kind: 'agentTurn', message: 'evil' } } })],
  ['cron.update', ({ jobId: id }) => ({ id, patch: { name: 'evil' } })],
  ['cron.update', ({ jobId: id }) => ({ id, patch: { isolation: { postToMainPrefix: 'evil' } } })],
  ['coordinator.trust', ({ coordinatorId: wsId }) => ({ wsId, send: true })],
  ['mcp.create', () => ({ name: 'new', command: 'x', autoApprove: true })],
  ['mcp.update', () => ({ serverId: 'nobody', autoApprove: true })],
  ['schedule.create', () => ({ ...SCHEDULE, autoApproveTools: ['touch'] })],
  ['schedule.update', ({ deniedId: taskId }) => ({ taskId, autoApproveTools: ['touch'] })],
  ['schedule.update', ({ jobId: taskId }) => ({ taskId, initialMessage: 'evil' })],
  ['schedule.update', ({ jobId: taskId }) => ({ taskId, name: 'evil' })],
];

/** The same methods where they allow nothing new. */
const HARMLESS: Asked[] = [
  ['workstream.update', ({ wsId }) => ({ wsId, autoApprove: false, readable: [] })],
  ['workstream.approve', ({ wsId }) => ({ wsId, approved: true })],
  ['cron.update', ({ jobId: id }) => ({ id, patch: { name: 'allowed', wakeMode: 'next-heartbeat' } })],
  ['schedule.create', () => ({ ...SCHEDULE, autoApproveTools: [] })],
  ['schedule.update', ({ jobId: taskId }) => ({ taskId, initialMessage: 'tidy up', autoApproveTools: ['touch'] })],
  ['schedule.update', ({ jobId: taskId }) => ({ taskId, autoApproveTools: [] })],
  ['schedule.update', ({ jobId: taskId }) => ({ taskId, initialMessage: 'good' })],
  ['coordinator.trust', ({ coordinatorId: wsId }) => ({ wsId, send: false })],
  ['skill.update', ({ skillId }) => ({ skillId, enabled: false })],
  ['wstemplate.update', ({ wsTemplateId }) => ({ wsTemplateId, enabled: false })],
  ['wstemplate.update', ({ wsTemplateId }) => ({ wsTemplateId, systemPrompt: 'fine', autoApprove: false })],
];

/** Params with such a name let calls run without asking, or belong to a row above. */
const SUSPECT = /auto_?approv|^always$|^approval$|^readable$/i;

/** Rows whose params have such a name, and nothing to do with calls that run without asking. */
const ELSEWHERE = [
  'workstream.import', // a file tells of earlier decisions; none of them holds
];

test('every row whose params can let calls run without asking is in the list of those that need a fresh proof', () => {
  const rows: [string, Contract][] = Object.entries(CONTRACTS);
  const suspects = rows.filter(([, { params }]) => [...namesIn(schemaOf(params()))].some((name) => SUSPECT.test(name)));
  const listed = new Set([...ALLOWING.map(([method]) => method), ...ELSEWHERE]);
  assert.deepEqual(
    suspects.map(([method]) => method).filter((method) => !listed.has(method)),
    [],
  );
  assert.ok(suspects.length >= 10);
});

test('a browser session with an old proof can let no call run without asking', async () => {
  await using gateway = await wholeGateway();
  const made = await makeTargets(gateway);
  const stale = await staleLogin(gateway);
  for (const [method, params] of ALLOWING) {
    const answer = await gateway.refusal(method, params(made), stale);
    assert.match(answer.message, /the login is older than 5 minutes/, `${method} ${JSON.stringify(params(made))}`);
  }
  for (const [method, params] of HARMLESS) await gateway.gateway.dispatch(method, params(made), callerOf(stale));
});

test('a slash command that lets calls run without asking is refused as the method that does the same, and tells nobody', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const stale = await staleLogin(gateway);
  const before = await gateway.events(wsId);
  const { message } = await gateway.refusal('workstream.command', { wsId, command: '/mode edits' }, stale);
  assert.match(message, /the login is older than 5 minutes/);
  assert.deepEqual(await gateway.events(wsId), before);
  await gateway.gateway.dispatch('workstream.command', { wsId, command: '/mode ask' }, callerOf(stale));
  await gateway.gateway.dispatch('workstream.command', { wsId, command: '/mode' }, callerOf(stale));
});

/** What the calls change: jobs and a template that allow calls, and some that do not. */
async function makeTargets({ call, main }: WholeGateway) {
  const template = { systemPrompt: 'be bold', autoApprove: true };
  const { wsTemplateId } = await call('wstemplate.create', { name: 'bold', ...template });
  const disabled = await call('wstemplate.create', { name: 'off', enabled: false, ...template });
  const { skillId } = await call('skill.create', { name: 'wide', description: 'x', content: 'x', autoApprove: true });
  const { id: jobId } = await call('cron.add', { ...JOB, name: 'allowed', approval: ALLOW });
  const { id: deniedId } = await call('cron.add', { ...JOB, name: 'denied', approval: { mode: 'deny' } });
  const { wsId: coordinatorId } = await call('workstream.create', { kind: 'coordinator' });
  return {
    wsId: await main(),
    coordinatorId,
    wsTemplateId,
    disabledId: disabled.wsTemplateId,
    jobId,
    deniedId,
    skillId,
  };
}

async function staleLogin({ clock }: WholeGateway): Promise<CallAs> {
  const proof = new Proof(clock, clock.now());
  await clock.advance(5 * 60_000);
  const parent = { kind: 'operator', id: 'operator' } as const;
  const session = { jti: 'jwt-1', parent, version: 0, browser: true, proof, expiresAtMs: clock.now() + 1_000_000 };
  const source: Principal['source'] = { kind: 'login', ...session };
  return { source };
}

const schemaOf = (params: z.ZodType): unknown => z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });

/** The names of all properties, at any depth. */
function* namesIn(schema: unknown): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && typeof value === 'object' && value !== null) yield* Object.keys(value);
    yield* namesIn(value);
  }
}
