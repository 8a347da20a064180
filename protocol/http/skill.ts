import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/** Skills (HTTP.md, "Templates"). */
export const skillEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/skills',
    summary: 'The prompt templates and the enabled workstream templates, as later releases list skills.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.object({
        skills: z.array(
          z.object({
            name: z.string(),
            category: z.string(),
            description: z.string(),
            tags: z.array(z.string()),
            is_default: z.boolean(),
            activation: z.string(),
            origin: z.string(),
            author: z.string(),
            version: z.string(),
          }),
        ),
      }),
  }),
};
