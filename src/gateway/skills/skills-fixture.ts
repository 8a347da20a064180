import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { testGuard } from '../../agent/guard/guard-fixture.ts';
import type { Message } from '../../agent/message.ts';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { createFolderSkills, type FolderSkills } from '../../agent/skills/folder-skills.ts';
import type { SkillSource } from '../../agent/skills/skill-source.ts';
import { createSkillTool } from '../../agent/skills/skill-tool.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import type { CheckedGet } from '../../egress/web/checked-get.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import type { SourceSettings } from './install/source-client.ts';
import { type OpenedSkills, openSkills } from './open-skills.ts';

interface SkillGatewayOptions {
  get?: CheckedGet | undefined;
  sources?: SourceSettings | undefined;
  trusted?(): readonly string[];
}

const NOWHERE = 'http://127.0.0.1:1';

/** A gateway whose agent has the tool `skill`, with a home and a project in temporary folders. */
export async function gatewayWithSkills({ get, sources, trusted = () => [] }: SkillGatewayOptions = {}) {
  const dir = tempDir();
  const [home, project] = [path.join(dir.path, 'home'), path.join(dir.path, 'project')];
  for (const folder of [home, project, path.join(project, '.git')]) mkdirSync(folder);
  const folders = createFolderSkills({ home, trusted });
  const { skills, source, open } = reopened({ folders, get, sources });
  const gateway = await wholeGateway({
    toolbox: createToolbox([createSkillTool(source)], testGuard()),
    skills,
    tap(store) {
      open(store);
      return store;
    },
  });
  gateway.mainWorkstream().data.workdir = project;
  return Object.assign(gateway, {
    home,
    project,
    write: writeSkill,
    /** The message of a person, and what the model was sent before it answered. */
    async say(text: string): Promise<ModelRequest> {
      const { length } = gateway.puppet.requests;
      const { status, error } = await ((await gateway.accept(text)) ?? assert.fail('refused')).ended;
      assert.deepEqual([status, error], ['ok', undefined]);
      return gateway.puppet.requests[length] ?? assert.fail('no request');
    },
    /** The agent makes a call in answer to a message; returns its stored result. */
    async uses(args: object) {
      gateway.puppet.turn(calling('skill', args));
      await ((await gateway.accept('do it')) ?? assert.fail('refused')).ended;
      const { messages = [] } = gateway.puppet.requests.at(-1) ?? {};
      return messages.findLast((message) => message.role === 'tool') ?? assert.fail('no result');
    },
    /** What the command told. */
    async command(line: string): Promise<string> {
      const wsId = await gateway.main();
      await gateway.call('workstream.command', { wsId, command: line });
      const last = (await gateway.events(wsId)).at(-1);
      return last?.type === 'info' || last?.type === 'error' ? last.message : assert.fail('nothing told');
    },
    removeFolders: () => dir[Symbol.dispose](),
  });
}

/** Skills that a restart opens anew. */
function reopened({ folders, get, sources }: Pick<SkillGatewayOptions, 'get' | 'sources'> & { folders: FolderSkills }) {
  let opened: OpenedSkills | undefined;
  const current = () => opened ?? assert.fail('no store yet');
  const source: SkillSource = {
    now: (...asked) => current().usable.now(...asked),
    offered: (...asked) => current().usable.offered(...asked),
    load: (...asked) => current().usable.load(...asked),
    read: (...asked) => current().usable.read(...asked),
  };
  const skills: OpenedSkills = {
    get skills() {
      return current().skills;
    },
    get resources() {
      return current().resources;
    },
    get usable() {
      return current().usable;
    },
    get sources() {
      return current().sources;
    },
    close: () => current().close(),
  };
  const open = (store: SqliteStore) => {
    opened = openSkills({
      store,
      folders,
      nodeId: 'node',
      get: get ?? (() => assert.fail('no request is expected')),
      sources: () => sources ?? { discoveryUrl: NOWHERE, apiUrl: NOWHERE, rawUrl: NOWHERE, privateHosts: [] },
      clock: fakeClock(1_000_000),
      ids: randomIds,
    });
  };
  return { source, skills, open };
}

/** Writes the SKILL.md of a skill, and its other files. */
function writeSkill(
  folder: string,
  name: string,
  { head = '', text = `Do ${name}.`, files = {} }: Partial<WrittenSkill> = {},
): string {
  const place = path.join(folder, name);
  mkdirSync(place, { recursive: true });
  const lines = ['---', `name: ${name}`, `description: Does ${name}.`, ...(head === '' ? [] : [head]), '---', text];
  writeFileSync(path.join(place, 'SKILL.md'), lines.join('\n'));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(place, file)), { recursive: true });
    writeFileSync(path.join(place, file), content);
  }
  return place;
}

interface WrittenSkill {
  /** A further line of the front matter. */
  head: string;
  text: string;
  files: Record<string, string>;
}

/** The messages of the daemon about skills. */
export const toldOfSkills = ({ messages }: Pick<ModelRequest, 'messages'>): string[] =>
  messages.flatMap((message: Message) =>
    message.role === 'user' && message.environment?.skills ? [message.content] : [],
  );
