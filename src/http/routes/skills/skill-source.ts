import { skillSourceEndpoints } from '../../../../protocol/http/skills/skill-source.ts';
import { bind } from '../../bind.ts';
import { toHttpSkill } from './skill-form.ts';

export const skillSourceRoutes = [
  bind(skillSourceEndpoints.discover, 'skill.discover', {
    params: ({ q, limit }) => ({ query: q, limit }),
    fieldNames: { query: 'q' },
    reply: ({ skills }) => ({
      skills: skills.map((skill) => ({
        id: skill.id,
        name: skill.name,
        description: skill.description,
        author: skill.author,
        source: skill.source,
        source_url: skill.sourceUrl,
        install_count: skill.installCount,
        tags: skill.tags,
        installed: skill.isInstalled,
        scan_status: skill.tier,
        template_id: skill.skillId,
      })),
    }),
  }),
  bind(skillSourceEndpoints.install, 'skill.install', {
    params: ({ source, skill_id, url, digest }) => ({ source, sourceSkillId: skill_id, url, digest }),
    fieldNames: { sourceSkillId: 'skill_id' },
    reply: ({ installed, skipped, total }) => ({
      installed: installed.map(toHttpSkill),
      skipped: skipped.map(({ name, reason, problem }) => ({ name, reason, problem })),
      total,
    }),
  }),
];
