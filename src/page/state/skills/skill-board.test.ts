import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { SkillBoard } from './skill-board.ts';

test('skills are found by words of their name, category, description and tags', async () => {
  const { client, answer } = createFakeClient();
  const common = { isDefault: false, activation: 'named', origin: 'manual', author: '', version: '' };
  const review = { ...common, name: 'review', category: 'general', description: 'Reads changes', tags: ['git'] };
  const poem = { ...common, name: 'poem', category: 'fun', description: 'Writes verse', tags: [] };
  answer('skill.list', () => ({ skills: [review, poem] }));
  const board = new SkillBoard(client);
  assert.equal(board.found, undefined);
  await board.read();
  const namesFor = (query: string) => {
    board.query.value = query;
    return board.found?.map(({ name }) => name);
  };
  assert.deepEqual(['', 'GIT reads', 'fun', 'git fun'].map(namesFor), [['review', 'poem'], ['review'], ['poem'], []]);
});
