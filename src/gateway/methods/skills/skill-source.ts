import type { skillSourceContracts } from '../../../../protocol/methods/skills/skill-source.ts';
import type { Handlers } from '../../call.ts';
import { discoverSkills } from '../../skills/install/discover-skills.ts';
import { type InstallDeps, installSkills } from '../../skills/install/install-skills.ts';
import { editorOf } from '../templates/template.ts';

export const skillSourceMethods = (deps: InstallDeps): Handlers<keyof typeof skillSourceContracts> => ({
  'skill.discover': async (params) => ({ skills: await discoverSkills(params, deps) }),
  'skill.install': (params, call) =>
    installSkills(
      params,
      {
        by: editorOf(call),
        also: (installed) =>
          call.audited({
            source: params.source ?? '',
            installed: installed.map(({ fields }) => `${fields.name} ${fields.digest}`),
          }),
      },
      deps,
    ),
});
