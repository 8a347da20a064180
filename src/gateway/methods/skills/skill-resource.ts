import { GatewayError } from '../../../../protocol/errors.ts';
import type { skillResourceContracts } from '../../../../protocol/methods/skills/skill-resource.ts';
import type { Handlers } from '../../call.ts';
import { checkResourcePath } from '../../skills/skill-input.ts';
import type { SkillResources } from '../../skills/skill-resources.ts';

export const skillResourceMethods = (resources: SkillResources): Handlers<keyof typeof skillResourceContracts> => ({
  'skill.resource.list': async ({ skillId }) => ({ resources: await resources.list(skillId) }),
  'skill.resource.create': ({ skillId, path: given, content, contentType = 'text/plain' }, call) => {
    const path = checkResourcePath(given);
    if (content === undefined) throw new GatewayError('INVALID_REQUEST', 'content is required');
    return resources.add(skillId, { path, content, contentType }, call.audited({ path }));
  },
  'skill.resource.get': ({ skillId, path }) => resources.get(skillId, path),
  'skill.resource.delete': async ({ skillId, path }, call) => {
    await resources.remove(skillId, path, call.audited({ path }));
    return { status: 'ok' };
  },
});
