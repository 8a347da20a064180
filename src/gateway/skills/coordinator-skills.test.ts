import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { coordinatorGateway, LOCAL } from '../coordinators/coordinators-fixture.ts';
import { calling } from '../testing/puppet-model.ts';

const textOf = ({ messages }: ModelRequest): string =>
  messages.map((message) => (message.role === 'tool' ? message.output : message.content)).join('\n');

/** A gateway with a skill of each kind. */
async function withSkills() {
  const gateway = await coordinatorGateway();
  for (const kind of ['any', 'interactive', 'coordinator'] as const) {
    const skill = { name: `for-${kind}`, description: 'x', content: `How to work: ${kind}`, kind };
    await gateway.call('skill.create', skill, LOCAL);
  }
  return gateway;
}

test('a child begins with the skill that the spawn names', async () => {
  await using gateway = await withSkills();
  await gateway.coordinate([calling('spawn_workstream', { message: 'tidy', skill: 'for-interactive' })]);
  const child = await gateway.child();
  await gateway.isIdle(child.wsId);
  const { skills } = await gateway.call('skill.details', {}, LOCAL);
  const skill = skills.find(({ name }) => name === 'for-interactive');
  assert.deepEqual([child.skill, child.skillVersion], [skill?.skillId, '1']);
  const asked = gateway.puppet.requests.find((request) => !request.system.includes('You are a coordinator'));
  assert.match(textOf(asked ?? assert.fail('the child asked nothing')), /How to work: interactive/);
});

test('skills of coordinators work in coordinators, and nowhere else', async () => {
  await using gateway = await withSkills();
  const { wsId, call } = gateway;
  const make = (skill: string, kind: 'interactive' | 'coordinator') =>
    call('workstream.create', { skill, kind }, LOCAL).then(
      () => 'made',
      (error: unknown) => String(error),
    );
  assert.match(await make('for-coordinator', 'interactive'), /The skill for-coordinator is for coordinators/);
  assert.match(await make('for-interactive', 'coordinator'), /for-interactive is for workstreams that are no coord/);
  assert.equal(await make('for-coordinator', 'coordinator'), 'made');
  assert.equal(await make('for-any', 'coordinator'), 'made');
  await call('workstream.command', { wsId, command: '/skill for-interactive' }, LOCAL);
  assert.match(JSON.stringify((await gateway.events(wsId)).at(-1)), /no coordinators/);
  await call('workstream.command', { wsId, command: '/skill for-coordinator' }, LOCAL);
  await gateway.coordinate(['done']);
  assert.match(textOf(gateway.puppet.requests.at(-1) ?? assert.fail()), /How to work: coordinator/);
  const spawn = { message: 'x', skill: 'for-coordinator' };
  await gateway.coordinate([calling('spawn_workstream', spawn)]);
  assert.match(String(gateway.results.at(-1)?.[0]), /is for coordinators/);
  await gateway.coordinate([calling('spawn_workstream', { ...spawn, kind: 'coordinator' })]);
  assert.equal((await gateway.child()).kind, 'coordinator');
});

test('a default skill for coordinators holds in them alone', async () => {
  await using gateway = await coordinatorGateway();
  const skill = { name: 'lead', description: 'x', content: 'How to lead' };
  await gateway.call('skill.create', { ...skill, kind: 'coordinator', activation: 'default' }, LOCAL);
  await gateway.coordinate([calling('spawn_workstream', { message: 'tidy' })]);
  await gateway.isIdle((await gateway.child()).wsId);
  const told = gateway.puppet.requests.map((request) => [
    request.system.includes('You are a coordinator'),
    textOf(request).includes('How to lead'),
  ]);
  assert.ok(told.length > 2 && told.every(([isLead, isTold]) => isLead === isTold), JSON.stringify(told));
});
