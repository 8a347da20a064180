import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { HttpSkill } from './skill.ts';

/** Skills of others (HTTP.md, "Skills"). */
export const skillSourceEndpoints = {
  discover: endpoint({
    verb: 'get',
    path: '/v1/api/admin/skills/discover',
    summary: 'Search the directory of skills; the answers say what is installed.',
    scope: 'approve',
    request: () => z.object({ q: z.string().default(''), limit: z.coerce.number().int().min(1).max(100).optional() }),
    reply: () =>
      z.object({
        skills: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            description: z.string(),
            author: z.string(),
            source: z.string(),
            source_url: z.string(),
            install_count: z.number(),
            tags: z.array(z.string()),
            installed: z.boolean(),
            scan_status: z.string().optional(),
            template_id: z.string().optional(),
          }),
        ),
      }),
    errors: { 400: 'Search query is required', 502: 'Discovery error: …' },
  }),
  install: endpoint({
    verb: 'post',
    path: '/v1/api/admin/skills/install',
    summary: 'Fetch, scan and store the skills of a source.',
    scope: 'approve',
    request: () =>
      z.object({
        source: z.string().optional(),
        skill_id: z.string().optional(),
        url: z.string().optional(),
        digest: z.string().optional(),
      }),
    reply: () =>
      z.object({
        installed: z.array(HttpSkill),
        skipped: z.array(z.object({ name: z.string(), reason: z.string(), problem: z.string().optional() })),
        total: z.number(),
      }),
    errors: {
      400: "source must be 'skills.sh' or 'github', skill_id is required, url is required, or the skill is invalid",
      404: 'No SKILL.md found in the source',
      409: 'All skills already installed, or another digest',
      502: 'The source did not answer as it should',
    },
  }),
};
