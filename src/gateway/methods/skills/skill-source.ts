import type { skillSourceContracts } from '../../../../protocol/methods/skills/skill-source.ts';
import { requireStanding } from '../../auth/require-authentication.ts';
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
        also(installed) {
          requireStanding(call.principal); // the source may have taken its time
          return call.audited({
            source: params.source ?? '',
            installed: installed.map(({ fields }) => `${fields.name} ${fields.digest}`),
          });
        },
      },
      deps,
    ),
});
