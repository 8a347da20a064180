import { skillEndpoints } from '../../../protocol/http/skill.ts';
import { bind } from '../bind.ts';

export const skillRoutes = [
  bind(skillEndpoints.list, 'skill.list', {
    params: () => ({}),
    reply: ({ skills }) => ({
      skills: skills.map(({ isDefault, ...skill }) => ({ ...skill, is_default: isDefault })),
    }),
  }),
];
