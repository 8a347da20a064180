import type { FolderSkills } from '../../agent/skills/folder-skills.ts';
import type { Clock } from '../../clock.ts';
import type { CheckedGet } from '../../egress/web/checked-get.ts';
import type { Ids } from '../../ids.ts';
import type { Store } from '../store/store.ts';
import { createAgentSkills } from './agent-skills.ts';
import { createSourceClient, type SourceSettings } from './install/source-client.ts';
import { SkillResources } from './skill-resources.ts';
import { Skills } from './skills.ts';

interface OpenSkillsDeps {
  store: Pick<Store, 'db' | 'commit'>;
  folders: FolderSkills;
  nodeId: string;
  get: CheckedGet;
  /** Where skills of others come from; read at each use. */
  sources(): SourceSettings;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
}

export type OpenedSkills = ReturnType<typeof openSkills>;

/** The skills of a store, of folders and of other places, as people and agents use them. */
export function openSkills({ store, folders, nodeId, get, sources, clock, ids }: OpenSkillsDeps) {
  const skills = new Skills({ store, clock, ids });
  const stopping = new AbortController();
  return {
    skills,
    resources: new SkillResources(skills, { clock, ids }),
    usable: createAgentSkills({ store, skills, folders, nodeId }),
    sources: {
      client: createSourceClient({ get, settings: sources, clock, stopping: stopping.signal }),
      settings: sources,
    },
    /** Ends what is being fetched. */
    close: async () => stopping.abort(),
  };
}
