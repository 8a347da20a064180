import assert from 'node:assert/strict';
import { linkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gatewayWithSkills, toldOfSkills } from './skills-fixture.ts';

const own = { description: 'Tidies up.', content: 'Tidy {{ws_id}} on {{node_id}}; {{other}} stays.' };

test('skills of the home and of a trusted project are offered in one appended message, which a later one replaces', async () => {
  const trusted: string[] = [];
  await using gateway = await gatewayWithSkills({ trusted: () => trusted });
  const first = await gateway.say('one');
  assert.deepEqual(toldOfSkills(first), []);
  gateway.write(path.join(gateway.home, 'skills'), 'mine');
  gateway.write(path.join(gateway.project, '.claude', 'skills'), 'theirs');
  const second = await gateway.say('two');
  assert.deepEqual(
    toldOfSkills(second).map((text) => [text.includes('"mine"'), text.includes('"theirs"')]),
    [[true, false]],
  );
  trusted.push(gateway.project);
  const third = await gateway.say('three');
  assert.deepEqual(
    toldOfSkills(third).map((text) => text.includes('"theirs"')),
    [false, true],
  );
  assert.deepEqual(third.messages.slice(0, second.messages.length), second.messages, 'the conversation only grows');
  assert.deepEqual([third.system, third.tools], [first.system, first.tools]);
  assert.equal(toldOfSkills(await gateway.say('four')).length, 2, 'nothing has changed');
  gateway.removeFolders();
});

test('a skill is loaded as the result of a call, with its files', async () => {
  await using gateway = await gatewayWithSkills({ trusted: () => [gateway.project] });
  const skills = path.join(gateway.project, '.agents', 'skills');
  const place = gateway.write(skills, 'tidy', { files: { 'references/a.md': 'Look here.', 'other.txt': 'x' } });
  const loaded = await gateway.uses({ action: 'load', name: 'tidy' });
  assert.match(loaded.output, /^\[skill tidy [0-9a-f]{12}\]\nDo tidy\.\n\[end of skill/);
  assert.match(loaded.output, new RegExp(`Its folder is ${place}\\.`));
  assert.equal((await gateway.uses({ action: 'read', name: 'tidy', path: 'references/a.md' })).output, 'Look here.');
  assert.match((await gateway.uses({ action: 'load', name: 'nothing' })).output, /No skill is called nothing.*tidy/);
  assert.match((await gateway.uses({ action: 'search', query: 'TIDY does' })).output, /"tidy"/);
  assert.equal((await gateway.uses({ action: 'search', query: 'else' })).output, 'No skill fits.');
  gateway.removeFolders();
});

test('no path leads out of the folder of a skill, and no link is followed', async () => {
  await using gateway = await gatewayWithSkills();
  const skills = path.join(gateway.home, 'skills');
  const secret = path.join(gateway.home, 'secret.txt');
  writeFileSync(secret, 'the secret');
  const place = gateway.write(skills, 'tidy', { files: { 'references/a.md': 'x', 'references/.env': 'KEY=1' } });
  symlinkSync(secret, path.join(place, 'references', 'link.md'));
  symlinkSync(gateway.home, path.join(place, 'up'));
  symlinkSync(place, path.join(skills, 'linked'));
  gateway.write(gateway.home, 'outside');
  symlinkSync(path.join(gateway.home, 'outside', 'SKILL.md'), path.join(gateway.write(skills, 'half'), 'x.md'));
  for (const given of [
    ...['../../secret.txt', '/etc/passwd', 'references/../../../secret.txt', 'references/link.md', 'up/secret.txt'],
    ...['..', '.', 'references/', 'a\0b', 'references\\..\\x', 'references/.env', '../half/SKILL.md', 'linked/x'],
  ]) {
    const { output: content, outcome } = await gateway.uses({ action: 'read', name: 'tidy', path: given });
    assert.doesNotMatch(content, /the secret|KEY=1|root:/, given);
    assert.notEqual(outcome, 'done', given);
  }
  assert.match((await gateway.uses({ action: 'load', name: 'linked' })).output, /No skill is called linked/);
  assert.match(await gateway.command('/skill'), /linked is no skill: it is no folder, or a link/);
  gateway.removeFolders();
});

test('files that are no skills are named, and do not disturb others', async () => {
  await using gateway = await gatewayWithSkills();
  const skills = path.join(gateway.home, 'skills');
  gateway.write(skills, 'good', { head: 'argument-hint: x' });
  gateway.write(skills, 'wrong', { head: 'compatibility: 5' });
  gateway.write(skills, 'large', { text: 'x'.repeat(300_000) });
  gateway.write(skills, 'manual', { head: 'disable-model-invocation: true' });
  writeFileSync(
    path.join(gateway.write(skills, 'other'), 'SKILL.md'),
    '---\nname: good\ndescription: Other.\n---\nOther.',
  );
  const told = await gateway.command('/skill');
  assert.match(told, /wrong\/SKILL\.md is no skill: Field 'compatibility' must be a string/);
  assert.match(told, /large\/SKILL\.md is no skill: it is larger than 256 KiB/);
  assert.match(told, /other\/SKILL\.md is no skill: Directory name 'other' must match skill name 'good'/);
  const [list = ''] = toldOfSkills(await gateway.say('one'));
  assert.deepEqual(list.match(/"name":"\w+"/g), ['"name":"good"'], 'only people choose the manual one');
  gateway.removeFolders();
});

test('a stored skill is found by its activation, and a folder cannot take its name', async () => {
  await using gateway = await gatewayWithSkills();
  const { skillId } = await gateway.call('skill.create', { name: 'tidy', ...own });
  gateway.write(path.join(gateway.home, 'skills'), 'tidy', { text: 'Another text.' });
  assert.match((await gateway.uses({ action: 'load', name: 'tidy' })).output, /Another text/, 'as it is only named');
  await gateway.call('skill.update', { skillId, activation: 'search' });
  const wsId = await gateway.main();
  const { output: content, taint } = await gateway.uses({ action: 'load', name: 'tidy' });
  assert.match(content, new RegExp(`\\nTidy ${wsId} on node; {{other}} stays\\.\\n`));
  assert.equal(taint, undefined);
  await gateway.call('skill.update', { skillId, activation: 'default' });
  const told = toldOfSkills(await gateway.say('hi')).at(-1) ?? '';
  assert.match(told, /The skill tidy holds in this conversation\. Follow it wherever it fits\.\n\[skill tidy/);
  await gateway.call('skill.delete', { skillId });
  assert.match(toldOfSkills(await gateway.say('hi')).at(-1) ?? '', /The skill tidy no longer holds/);
  gateway.removeFolders();
});

test('/skill with an unknown name says that there is no such skill, and names those there are', async () => {
  await using gateway = await gatewayWithSkills();
  assert.equal(await gateway.command('/skill nope'), 'Command error: There is no skill nope. None is listed here.');
  await gateway.call('skill.create', { name: 'tidy', ...own, activation: 'search' });
  await gateway.call('skill.create', { name: 'review', ...own, activation: 'default' });
  assert.equal(
    await gateway.command('/skill nope'),
    'Command error: There is no skill nope. Listed here: review, tidy.',
  );
  gateway.removeFolders();
});

test('/skill chooses a skill with its text at that time; it survives a restart, a fork and /clear', async () => {
  await using gateway = await gatewayWithSkills();
  const { skillId } = await gateway.call('skill.create', { name: 'tidy', ...own });
  assert.equal(
    await gateway.command('/skill tidy'),
    'From the next message on, this conversation follows the skill tidy.',
  );
  await gateway.call('skill.update', { skillId, content: 'Something else.' });
  assert.match(toldOfSkills(await gateway.say('one')).join(), /\nTidy [^\n]*\n\[end/);
  await gateway.restart();
  gateway.mainWorkstream().data.workdir = gateway.project;
  assert.equal(toldOfSkills(await gateway.say('two')).length, 1, 'told once');
  const fork = await gateway.call('workstream.fork', { wsId: await gateway.main() });
  const { skills } = await gateway.call('skill.available', { wsId: fork.wsId });
  assert.deepEqual(
    skills.map(({ name, isApplied }) => [name, isApplied]),
    [['tidy', true]],
  );
  await gateway.command('/clear').catch(() => undefined);
  assert.equal(toldOfSkills(await gateway.say('three')).length, 1, 'told again after a cut');
  await gateway.command('/skill clear');
  assert.match(toldOfSkills(await gateway.say('four')).at(-1) ?? '', /The skill tidy no longer holds/);
  await gateway.call('sessions.delete', { key: fork.wsId });
  assert.deepEqual(await gateway.store.db.selectFrom('chosen_skills').selectAll().execute(), []);
  gateway.removeFolders();
});

test('a new workstream takes the text and the settings of its skill', async () => {
  await using gateway = await gatewayWithSkills();
  const settings = { model: 'other', reasoningEffort: 'high', temperature: 0.2, tokenBudget: 50_000 } as const;
  await gateway.call('skill.create', { name: 'tidy', ...own, ...settings });
  const { wsId } = await gateway.call('workstream.create', { skill: 'tidy', model: 'puppet' });
  await gateway.call('workstream.send', { wsId, message: 'hi' });
  await gateway.isIdle(wsId);
  const request = gateway.puppet.requests.at(-1) ?? assert.fail();
  assert.match(toldOfSkills(request).join(), /Tidy/);
  assert.deepEqual([request.effort, request.temperature], ['high', 0.2]);
  assert.equal((await gateway.call('workstream.get', { wsId })).snapshot.workstream.modelAlias, 'other');
  assert.equal((await gateway.call('budget.list', { wsId })).budgets[0]?.limit, 50_000);
  await gateway.call('skill.create', { name: 'lead', ...own, kind: 'coordinator' });
  assert.match((await gateway.refusal('workstream.create', { skill: 'lead' })).message, /is for coordinators/);
  const { code } = await gateway.refusal('workstream.create', { skill: 'nothing' });
  assert.equal(code, 'INVALID_REQUEST');
  await gateway.call('skill.create', { name: 'wide', ...own, allowedTools: ['bash'] });
  assert.equal((await gateway.refusal('workstream.create', { skill: 'wide' }, { scope: 'write' })).code, 'FORBIDDEN');
  gateway.removeFolders();
});

test('a hard link in a skill shows no secret by its name', async () => {
  await using gateway = await gatewayWithSkills();
  const place = gateway.write(path.join(gateway.home, 'skills'), 'tidy', { files: { 'references/a.md': 'x' } });
  writeFileSync(path.join(gateway.home, 'id_rsa'), 'the key');
  linkSync(path.join(gateway.home, 'id_rsa'), path.join(place, 'references', 'id_rsa'));
  const { output: content } = await gateway.uses({ action: 'read', name: 'tidy', path: 'references/id_rsa' });
  assert.doesNotMatch(content, /the key/);
  gateway.removeFolders();
});
