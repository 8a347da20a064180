import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { has, isQuiet, openChat } from '../support/clients/chat-terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

for (const columns of [80, 120])
  test(`mentions, commands, Escape, history, lists and tabs at ${columns} columns`, async () => {
    await using project = await mkdtempDisposable(path.join(tmpdir(), 'headgate-chat-input-'));
    await writeFile(path.join(project.path, 'notes.txt'), 'one\ntwo\nthree\n');
    await using chat = await openChat(daemon, { columns, workdir: project.path });

    chat.type('@nts');
    await chat.until(has('  @notes.txt'), 'the file');
    chat.type('\t');
    await chat.until((rows) => rows.at(-1) === '› @notes.txt', 'the completed mention');
    chat.type('#2-3 what is this?');
    model.when('what is this', say('Two lines.'));
    chat.type('\r');
    await chat.until((rows) => has('+ notes.txt (lines 2-3)')(rows) && has('Two lines.')(rows), 'the answer');

    chat.type('!cat notes.txt; exit 4\r');
    await chat.until(has('(exit code 4; the output goes with your next message)'), 'the output');
    const waiting = stall();
    model.when('and this', [say('It begins\n\nand'), waiting]);
    chat.type('and this?\r');
    const rows = await chat.until(has('It begins'), 'the beginning');
    assert.ok(has('✖ !cat notes.txt; exit 4')(rows) && has('+ output of cat.txt')(rows));
    chat.type('\x1b');
    await chat.until((seen) => has('(stopped)')(seen) && isQuiet(seen), 'the stop');

    chat.type('\x12cat');
    await chat.until(has('▸ !cat notes.txt; exit 4'), 'the found line');
    chat.type('\x1b');
    await chat.until(isQuiet, 'the prompt');
    chat.type('/open new\r');
    const tabs = await chat.until((seen) => /^── 1 \S+ \[2 /.test(seen.at(-2) ?? '') && seen.at(-1) === '›', 'the tab');
    assert.ok(tabs.every((row) => row.length <= columns));
    chat.type('\x1b1');
    await chat.until((seen) => (seen.at(-2) ?? '').startsWith(`── [1 ${chat.ws}]`), 'the first tab again');
  });
