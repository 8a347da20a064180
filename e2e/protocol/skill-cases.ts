import { after } from 'node:test';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { skillFile, sourceServer } from '../../src/gateway/skills/install/source-fixture.ts';
import { openStage } from '../support/daemon/stage.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  key(): string;
}

/** A stage whose daemon gets skills of others from a directory, and from a repository with one. */
export async function openStageWithSkills(options: Parameters<typeof openStage>[0]) {
  const source = await sourceServer();
  after(() => source[Symbol.asyncDispose]());
  const { discoveryUrl, apiUrl: githubApiUrl, rawUrl: githubRawUrl } = source.sources;
  source.repositories['ada/skills@main'] = { 'SKILL.md': skillFile('tidy') };
  return openStage({ ...options, config: { skills: { discoveryUrl, githubApiUrl, githubRawUrl } } });
}

/** A successful call of each method about skills. */
export function skillCases({ call, key }: Caller) {
  const newSkill = () =>
    call('skill.create', { name: `skill-${key().slice(0, 8)}`, description: 'Does it.', content: 'Do it.' });
  const newResource = async () => {
    const { skillId } = await newSkill();
    await call('skill.resource.create', { skillId, path: 'references/a.md', content: 'A' });
    return { skillId, path: 'references/a.md' };
  };

  return {
    'skill.list': () => call('skill.list', {}),
    'skill.available': async () => {
      const [first] = (await call('workstream.list', {})).workstreams;
      return call('skill.available', { wsId: first?.wsId ?? '' });
    },
    'skill.details': () => call('skill.details', {}),
    'skill.get': async () => call('skill.get', { skillId: (await newSkill()).skillId }),
    'skill.create': () => newSkill(),
    'skill.update': async () => call('skill.update', { skillId: (await newSkill()).skillId, activation: 'search' }),
    'skill.delete': async () => call('skill.delete', { skillId: (await newSkill()).skillId }),
    'skill.versions': async () => call('skill.versions', { skillId: (await newSkill()).skillId }),
    'skill.rescan': async () => call('skill.rescan', { skillId: (await newSkill()).skillId }),
    'skill.resource.list': async () => call('skill.resource.list', { skillId: (await newResource()).skillId }),
    'skill.resource.create': () => newResource(),
    'skill.resource.get': async () => call('skill.resource.get', await newResource()),
    'skill.resource.delete': async () => call('skill.resource.delete', await newResource()),
    'skill.discover': () => call('skill.discover', { query: 'tidy' }),
    'skill.install': () => call('skill.install', { source: 'github', url: 'https://github.com/ada/skills' }),
  };
}
