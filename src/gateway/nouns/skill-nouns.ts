import { skillMethods } from '../methods/skills/skill.ts';
import { skillResourceMethods } from '../methods/skills/skill-resource.ts';
import { skillSourceMethods } from '../methods/skills/skill-source.ts';
import type { OpenedSkills } from '../skills/open-skills.ts';
import type { Templates } from '../templates/templates.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

/** Instructions for particular tasks. */
export const skillNouns = (
  { skills, resources, usable, sources: { client, settings }, close }: OpenedSkills,
  { templates, workstreams }: { templates: Templates; workstreams: Workstreams },
) => ({
  skill: { methods: skillMethods({ skills, usable, templates, workstreams }), close },
  skillResource: { methods: skillResourceMethods(resources) },
  skillSource: { methods: skillSourceMethods({ skills, client, settings }) },
});
