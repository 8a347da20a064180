import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Drafts } from './drafts.ts';

function memoryOf(text: string | null = null) {
  const memory = {
    text,
    getItem: () => memory.text,
    setItem(_key: string, value: string) {
      memory.text = value;
    },
  };
  return memory;
}

test('a draft survives a reload, a sent one does not', () => {
  const memory = memoryOf();
  const drafts = new Drafts(memory);
  drafts.keep('a', 'half a thought');
  drafts.keep('b', 'sent');
  drafts.keep('b', '');
  const again = new Drafts(memory);
  assert.deepEqual([again.find('a'), again.find('b')], ['half a thought', '']);
});

test('the files of a draft survive a reload with its text, and alone', () => {
  const memory = memoryOf();
  const drafts = new Drafts(memory);
  const sizes = { mime_type: 'text/plain', size_bytes: 3, kind: 'text' } as const;
  const [one, two] = ['one', 'two'].map((filename) => ({ attachment_id: `att_${filename}`, filename, ...sizes }));
  assert.ok(one && two);
  drafts.keep('a', 'with words', [one]);
  drafts.keep('a', 'with words', [one, two]);
  drafts.keep('b', '', [two]);
  drafts.keep('c', 'x'.repeat(1_000_001), [one]);
  const again = new Drafts(memory);
  assert.deepEqual([again.find('a'), again.findFiles('a')], ['with words', [one, two]]);
  assert.deepEqual([again.find('b'), again.findFiles('b')], ['', [two]]);
  assert.deepEqual([again.find('c'), again.findFiles('c')], ['', [one]]);
  assert.deepEqual(new Drafts(memoryOf('[["a","text"],["b","text",[1,{"filename":"x"}]]]')).findFiles('b'), []);
});

test('the oldest drafts are dropped, and of a draft that is too long, its last shorter version stays', () => {
  const memory = memoryOf();
  const drafts = new Drafts(memory);
  for (let index = 0; index < 31; index += 1) drafts.keep(`w${index}`, 'text');
  const kept = () => ['w0', 'w1', 'w30', 'long'].map((wsId) => new Drafts(memory).find(wsId).length);
  assert.deepEqual(kept(), [0, 4, 4, 0]);
  drafts.keep('long', 'x'.repeat(40_000));
  drafts.keep('long', 'x'.repeat(1_000_001));
  assert.deepEqual(kept(), [0, 0, 4, 40_000]);
  drafts.keep('long', 'x'.repeat(999_990));
  assert.deepEqual(kept(), [0, 0, 4, 999_990], 'those that fit beside it stay');
});

test('damaged drafts are ignored, and a full storage does no harm', () => {
  assert.equal(new Drafts(memoryOf('{"a"')).find('a'), '');
  assert.equal(new Drafts(memoryOf('[["a",1],["b","kept"]]')).find('b'), 'kept');
  const full = new Drafts({
    getItem: () => null,
    setItem() {
      throw new Error('QuotaExceededError');
    },
  });
  full.keep('a', 'text');
  assert.equal(full.find('a'), 'text');
});

test('no drafts remain after a logout', () => {
  const memory = memoryOf();
  const drafts = new Drafts(memory);
  drafts.keep('a', 'text');
  drafts.clear();
  assert.equal(memory.text, '[]');
});
