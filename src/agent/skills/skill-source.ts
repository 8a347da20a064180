import type { SkillTier } from '../../../protocol/methods/skills/skill.ts';

/** Where a skill comes from. `manual`: an administrator wrote it; `source`: it was installed; `home`, `project`: a folder. */
export type SkillOrigin = 'manual' | 'source' | 'home' | 'project';

/** A skill as lists show it. */
export interface ListedSkill {
  name: string;
  description: string;
  origin: SkillOrigin;
}

/** A skill as an agent gets it. */
export interface AgentSkill extends ListedSkill {
  text: string;
  /** Another one for another text. */
  digest: string;
  /** Of a skill of the project: its folder, whose files the agent can read by itself. */
  folder?: string;
  /** The paths of the files that it brings, below its folder. */
  files: readonly string[];
  /** Small files of a stored skill, which are shown with it. */
  shownFiles: readonly { path: string; content: string }[];
  /** Strangers wrote it, and nobody here vouches for it. */
  isUntrusted: boolean;
  /** What a scan says about it; absent for folders, which are not scanned. */
  tier?: SkillTier;
}

/** Where an agent works. */
export interface SkillPlace {
  wsId: string;
  workdir: string;
}

/** What holds in a conversation now. */
export interface SkillsNow {
  /** What the model may load, in the order of names. */
  offered: readonly ListedSkill[];
  /** What people chose for the conversation, or what holds in all of them. */
  applied: readonly AgentSkill[];
}

/** The skills of agents. */
export interface SkillSource {
  now(place: SkillPlace): Promise<SkillsNow>;
  /** What the model may load. */
  offered(place: SkillPlace): Promise<readonly ListedSkill[]>;
  /** One that the model may load, or that holds in the conversation. */
  load(place: SkillPlace, name: string): Promise<AgentSkill | undefined>;
  /** A file that such a skill brings; undefined: there is none, or it may not be read. */
  read(place: SkillPlace, skill: AgentSkill, file: string): Promise<Buffer | undefined>;
}
