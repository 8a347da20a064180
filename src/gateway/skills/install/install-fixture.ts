import type { TestContext } from 'node:test';
import { createCheckedGet } from '../../../egress/web/checked-get.ts';
import { gatewayWithSkills } from '../skills-fixture.ts';
import { sourceServer } from './source-fixture.ts';

/** A gateway that installs skills from a server of the test. */
export async function installScene(
  t: TestContext,
  changed: Partial<Awaited<ReturnType<typeof sourceServer>>['sources']> = {},
) {
  const source = await sourceServer();
  const sources = { ...source.sources, ...changed };
  const gateway = await gatewayWithSkills({ get: createCheckedGet({ environment: {} }), sources });
  t.after(async () => {
    await gateway[Symbol.asyncDispose]();
    await source[Symbol.asyncDispose]();
    gateway.removeFolders();
  });
  return { source, gateway };
}

export const GITHUB = { source: 'github', url: 'https://github.com/ada/skills' };
