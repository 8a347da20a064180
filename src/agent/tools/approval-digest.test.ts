import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCanonicalJson } from '../../canonical-json.ts';
import { approvalDigest } from './approval-digest.ts';

const call = { tool: 'bash', canonicalArguments: '{"command":"ls"}', workdir: { path: '/w', ino: '1' }, bindTo: 'x' };

test('the same call has the same digest, a SHA-256 in hex', () => {
  assert.equal(approvalDigest(call), approvalDigest({ ...call }));
  assert.match(approvalDigest(call), /^[0-9a-f]{64}$/);
});

test('any difference changes the digest', () => {
  const others = [
    { ...call, tool: 'bash2' },
    { ...call, canonicalArguments: '{"command":"ls "}' },
    { ...call, workdir: { path: '/w2', ino: '1' } },
    { ...call, workdir: { path: '/w', ino: '2' } },
    { ...call, bindTo: 'y' },
    { ...call, bindTo: undefined },
    { ...call, tool: 'bash","{', canonicalArguments: '"command":"ls"}' },
  ];
  assert.equal(new Set([call, ...others].map(approvalDigest)).size, others.length + 1);
});

test('canonical JSON does not depend on the order of keys, at any depth', () => {
  const one = JSON.parse('{"b":1,"a":[{"d":2,"c":null}],"__proto__":{"z":1,"y":2}}');
  const other = JSON.parse('{"__proto__":{"y":2,"z":1},"a":[{"c":null,"d":2}],"b":1}');
  assert.equal(toCanonicalJson(one), toCanonicalJson(other));
  assert.equal(toCanonicalJson(one), '{"__proto__":{"y":2,"z":1},"a":[{"c":null,"d":2}],"b":1}');
});
