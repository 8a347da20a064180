import { skillResourceEndpoints } from '../../../../protocol/http/skills/skill-resource.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind } from '../../bind.ts';
import { iso } from '../../iso.ts';

const toResource = (resource: Result<'skill.resource.get'>) => ({
  resource_id: resource.resourceId,
  skill_id: resource.skillId,
  path: resource.path,
  content: resource.content,
  content_type: resource.contentType,
  size: resource.size,
  created: iso(resource.createdAtMs),
});

const byPath = ({ skill_id, path }: { skill_id: string; path: string }) => ({ skillId: skill_id, path });

export const skillResourceRoutes = [
  bind(skillResourceEndpoints.list, 'skill.resource.list', {
    params: ({ skill_id }) => ({ skillId: skill_id }),
    reply: ({ resources }) => ({ resources: resources.map(toResource) }),
  }),
  bind(skillResourceEndpoints.create, 'skill.resource.create', {
    params: ({ skill_id, path, content, content_type }) => ({
      skillId: skill_id,
      path,
      content,
      contentType: content_type,
    }),
    reply: toResource,
  }),
  bind(skillResourceEndpoints.get, 'skill.resource.get', { params: byPath, reply: toResource }),
  bind(skillResourceEndpoints.remove, 'skill.resource.delete', {
    params: byPath,
    reply: ({ status }) => ({ status }),
  }),
];
