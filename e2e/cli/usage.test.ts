import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say, useTokens } from '../support/model/scripted-steps.ts';

test('usage shows tokens and money by model and day, and keeps them over kill -9', async () => {
  await using upstream = await startScriptedModel();
  upstream.script(
    [useTokens({ prompt: 1_000, completion: 100, cached: 400 }), say('one')],
    [useTokens({ prompt: 2_000, completion: 200 }), say('two')],
  );
  const price = { input: 100, output: 1_000, cacheRead: 10 };
  const lab = { provider: 'openai-compatible', baseUrl: upstream.url, model: 'scripted', price };
  await using daemon = await startDaemon({ config: { models: { lab }, defaultModel: 'lab' } });
  for (const message of ['first', 'second']) {
    const { code } = await runHeadgate(['run', '--model', 'lab', message], { HEADGATE_HOME: daemon.home });
    assert.equal(code, 0);
  }
  const usage = (...flags: string[]) => runHeadgate(['usage', ...flags], { HEADGATE_HOME: daemon.home });
  const expected = {
    key: 'openai-compatible/scripted',
    turns: 2,
    inputTokens: 3_000,
    cacheReadTokens: 400,
    cacheWriteTokens: 0,
    outputTokens: 300,
    reasoningTokens: 0,
    costUsd: (600 * 100 + 400 * 10 + 100 * 1_000 + 2_000 * 100 + 200 * 1_000) / 1_000_000,
    unpricedTokens: 0,
  };
  const byModel = async () => JSON.parse((await usage('--by', 'model', '--json')).stdout).rows;
  assert.deepEqual(await byModel(), [expected]);
  await daemon.kill9();
  await daemon.restart();
  assert.deepEqual(await byModel(), [expected]);
  const { code, stdout } = await usage();
  assert.equal(code, 0);
  assert.match(stdout, /^\d{4}-\d\d-\d\d +2 +3,000 +400 +300 +0 +0\.56$/m);
  const wrong = await usage('--days', 'many');
  assert.deepEqual([wrong.code, /--days must be a number/.test(wrong.stderr)], [2, true]);
});
