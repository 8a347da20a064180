import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AsideTarget } from './aside-target.ts';
import { KeptAside } from './kept-aside.ts';

function memoryOf(stored?: string) {
  const all = new Map(stored === undefined ? [] : [['headgate.aside', stored]]);
  return {
    getItem: (key: string) => all.get(key) ?? null,
    setItem: (key: string, value: string) => void all.set(key, value),
  };
}

test('what stands beside a conversation comes back after a reload, unless it is a file or was closed', () => {
  const memory = memoryOf();
  const targets: AsideTarget[] = [
    { view: 'command', commandId: 'b1' },
    { view: 'agent', agentId: 'a1' },
    { view: 'agent', callId: 'c1' },
    { view: 'output', callId: 'c1' },
    { view: 'plan', callId: 'c1' },
  ];
  for (const target of targets) {
    new KeptAside(memory).keep('w1', target);
    assert.deepEqual(new KeptAside(memory).find('w1'), target);
  }
  const kept = new KeptAside(memory);
  assert.equal(kept.find('w2'), undefined);
  kept.keep('w2', undefined);
  assert.ok(kept.find('w1'), 'another conversation changes nothing');
  kept.keep('w1', { view: 'files', path: 'secret-plans.md' });
  assert.equal(kept.find('w1'), undefined);
  kept.keep('w1', targets[0]);
  kept.keep('w1', undefined);
  assert.equal(kept.find('w1'), undefined);
});

test('what is damaged counts as nothing', () => {
  for (const stored of ['{', '{}', '["w1"]', '["w1",{"view":"plan"}]', '["w1",{"view":"files","path":"x"}]'])
    assert.equal(new KeptAside(memoryOf(stored)).find('w1'), undefined);
});
