import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields, readSkill, textsOf } from './skill-draft.ts';
import { storedSkill } from './skill-fixture.ts';

test('of a new skill, what is filled in is sent', () => {
  const texts = { ...textsOf(undefined), name: 'review', content: 'Read.\r\nThen write.', tags: 'git, , code' };
  assert.deepEqual(readSkill({ ...texts, temperature: '0.5', autoApprove: undefined }, undefined), {
    ...{ name: 'review', description: '', content: 'Read.\nThen write.', activation: 'named', kind: 'any' },
    ...{ tags: ['git', 'code'], temperature: 0.5, priority: 0 },
  });
});

test('of a skill that exists, only changes are sent', () => {
  const before = storedSkill({ maxTokens: 100, autoApprove: true, allowedTools: ['bash'] });
  assert.deepEqual(readSkill({ ...textsOf(before) }, before), {});
  const texts = { ...textsOf(before), content: 'Other.', maxTokens: '', allowedTools: 'bash\nread_file' };
  const { autoApprove: _, ...unticked } = texts;
  assert.deepEqual(readSkill(unticked, before), {
    ...{ content: 'Other.', maxTokens: null, allowedTools: ['bash', 'read_file'], autoApprove: false },
  });
});

test('a field that the form does not have is left as it is', () => {
  const before = storedSkill({ temperature: 1 });
  assert.deepEqual(readSkill({ activation: 'search', autoApprove: '' }, before), { activation: 'search' });
});

test('a text that is no number is refused at its field', () => {
  assert.throws(() => readSkill({ temperature: 'warm' }, storedSkill({})), { field: 'temperature' });
});

test('what an edit changed has names', () => {
  const before = storedSkill({});
  const after = storedSkill({ content: 'Other.', tokenBudget: 5, enabled: false });
  assert.deepEqual(changedFields(before, after), ['instructions', 'token budget', 'disabled']);
  assert.deepEqual(readSkill(textsOf(before), after), { content: before.content, tokenBudget: 0 });
});
