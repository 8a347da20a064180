import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { SkillBoard } from './skill-board.ts';
import { textsOf } from './skill-draft.ts';
import { storedSkill } from './skill-fixture.ts';

const common = { isDefault: false, activation: 'named', origin: 'manual', author: '', version: '' };
const review = { ...common, name: 'review', category: 'general', description: 'Reads changes', tags: ['git'] };
const poem = { ...common, name: 'poem', category: 'fun', description: 'Writes verse', tags: [] };

test('skills are found by words of their name, category, description and tags', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('skill.list', () => ({ skills: [review, poem] }));
  const board = new SkillBoard(client);
  assert.equal(board.found, undefined);
  await board.read();
  const namesFor = (query: string) => {
    board.query.value = query;
    return board.found?.map(({ summary }) => summary.name);
  };
  assert.deepEqual(['', 'GIT reads', 'fun', 'git fun'].map(namesFor), [['poem', 'review'], ['review'], ['poem'], []]);
  assert.deepEqual(calls, [['skill.list', {}]], 'who may not change skills does not ask how they are stored');
});

test('those who may change skills see disabled ones, too, and templates among them', async () => {
  const { client, answer } = createFakeClient();
  answer('skill.list', () => ({ skills: [review, poem] }));
  const off = storedSkill({ skillId: 'skl_2', name: 'off', enabled: false });
  answer('skill.details', () => ({ skills: [off, storedSkill({})], total: 2 }));
  const board = new SkillBoard(client);
  await board.show({ mayChange: true });
  assert.deepEqual(
    board.entries.value?.map(({ summary, stored }) => [summary.name, stored?.skillId]),
    [
      ['off', 'skl_2'],
      ['poem', undefined],
      ['review', 'skl_1'],
    ],
  );
});

test('a refusal names its field, and one about something else is a sentence', async () => {
  const { client, answer } = createFakeClient();
  answer('skill.list', () => ({ skills: [] }));
  answer('skill.details', () => ({ skills: [], total: 0 }));
  const board = new SkillBoard(client);
  const refuse = (details: unknown) =>
    answer('skill.create', () => {
      throw new RequestError('CONFLICT', 'Skill name already exists', { details });
    });
  refuse({ issues: [{ path: 'name', message: 'is taken by another skill' }] });
  assert.deepEqual(await board.save(textsOf(undefined), undefined), {
    fields: { name: 'Is taken by another skill.' },
    rest: undefined,
  });
  for (const details of [undefined, { issues: [{ path: 'variables', message: 'x' }] }, { issues: 'x' }]) {
    refuse(details);
    assert.deepEqual(await board.save(textsOf(undefined), undefined), {
      fields: {},
      rest: 'Skill name already exists',
    });
  }
  assert.deepEqual(await board.save({ ...textsOf(undefined), temperature: 'warm' }, undefined), {
    fields: { temperature: 'Must be a number.' },
    rest: undefined,
  });
});

test('nothing is sent if nothing was changed', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('skill.list', () => ({ skills: [] }));
  answer('skill.details', () => ({ skills: [], total: 0 }));
  const skill = storedSkill({});
  assert.equal(await new SkillBoard(client).save(textsOf(skill), skill), undefined);
  assert.deepEqual(
    calls.map(([method]) => method),
    ['skill.list'],
  );
});
