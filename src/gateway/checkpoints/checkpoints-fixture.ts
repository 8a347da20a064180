import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { holdFolder } from '../../agent/tools/files/held-folder.ts';
import { tempDir } from '../../testing/temp-store.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { CheckpointSettings } from '../live-settings.ts';
import { LIVE } from '../testing/default-deps.ts';
import { fakeWorkdirs } from '../testing/fake-workdirs.ts';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

/** A gateway whose tool `touch` writes the text of its call into a file of a real folder. */
export async function checkpointsFixture(
  t: TestContext,
  settings: Partial<CheckpointSettings> = {},
  more: Partial<GatewayDeps> = {},
) {
  const dir = tempDir();
  const folder = join(dir.path, 'work');
  mkdirSync(folder);
  let next = 'nothing';
  const checkpoints = { ...LIVE.checkpoints, enabled: true, ...settings };
  const folders = [await holdFolder(folder)];
  let isAway = false;
  const check = async () => ({
    folder: isAway ? assert.fail('the folder is away') : (folders.at(-1) ?? assert.fail()),
    readable: [],
  });
  const gateway = await wholeGateway({
    live: { ...LIVE, checkpoints },
    ...more,
    workdirs: {
      ...fakeWorkdirs,
      hold: () => ({ path: folder, check }),
    },
    async execute(tool) {
      if (tool === 'touch') writeFileSync(join(folder, 'a.txt'), next);
      if (next === 'last') isAway = true;
      return { output: 'ok', outcome: 'done' };
    },
  });
  t.after(async () => {
    await gateway[Symbol.asyncDispose]();
    for (const held of folders) await held[Symbol.asyncDispose]();
    dir[Symbol.dispose]();
  });
  /** Another folder takes its place. */
  async function exchange(): Promise<void> {
    renameSync(folder, `${folder} before`);
    mkdirSync(folder);
    folders.push(await holdFolder(folder));
  }
  const wsId = await gateway.main();
  await gateway.call('workstream.update', { wsId, autoApprove: true });
  return {
    gateway,
    wsId,
    at: (name: string) => join(folder, name),
    read: () => (existsSync(join(folder, 'a.txt')) ? readFileSync(join(folder, 'a.txt'), 'utf8') : undefined),
    async run(text: string, tool: 'touch' | 'look' = 'touch') {
      next = text;
      gateway.puppet.turn(calling(tool, { text }));
      gateway.puppet.turn('done');
      await (await gateway.accept(`write ${text}`))?.ended;
    },
    exchange,
    /** Its folder is there again, or another one in its place. */
    async comeBack({ isOther }: { isOther: boolean }) {
      if (isOther) await exchange();
      isAway = false;
      await (await gateway.accept('go on'))?.ended; // the answer that the run before could not get
    },
    list: async () => (await gateway.call('checkpoint.list', { wsId })).checkpoints,
  };
}
