import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GITHUB, installScene as open } from './install-fixture.ts';
import { skillFile } from './source-fixture.ts';

test('names in a repository are shown without control characters', async (t) => {
  const { source, gateway } = await open(t);
  source.repositories['ada/skills@main'] = {
    'tidy/SKILL.md': skillFile('tidy'),
    'tidy/a\u001b[2J.txt': 'x',
    'b\u202ead/SKILL.md': skillFile('bad'),
  };
  const { installed, skipped } = await gateway.call('skill.install', GITHUB);
  const problem = "Directory name 'b\\u202ead' must match skill name 'bad'";
  assert.deepEqual(
    [installed[0]?.leftOut?.files, skipped],
    [[{ path: 'a\\u001b[2J.txt', reason: 'place' }], [{ name: 'b\\u202ead', reason: 'invalid', problem }]],
  );
});

test('a list with a file of an impossible size is an upstream failure', async (t) => {
  const { source, gateway } = await open(t);
  source.repositories['ada/skills@main'] = { 'tidy/SKILL.md': skillFile('tidy') };
  for (const size of [-1e12, 0.5]) {
    source.odd = [{ path: 'tidy/references/a.md', type: 'blob', mode: '100644', sha: 'x', size }];
    const { code, message } = await gateway.refusal('skill.install', GITHUB);
    assert.deepEqual(
      [code, message],
      ['UPSTREAM_FAILED', 'The list of files of the repository cannot be used: it has another form'],
    );
  }
});
