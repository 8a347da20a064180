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
  test(`mentions, commands, Escape, history, pickers and tabs at ${columns} columns`, async () => {
    await using project = await mkdtempDisposable(path.join(tmpdir(), 'headgate-chat-input-'));
    await writeFile(path.join(project.path, 'notes.txt'), 'one\ntwo\nthree\n');
    await using chat = await openChat(daemon, { columns, workdir: project.path });
    const client = await daemon.client();
    await client.call('skill.create', { name: `heron-${columns}`, description: 'Birds.', content: 'Watch birds.' });
    const { wsId: other } = await client.call('workstream.create', { name: `quartz garden ${columns}` });
    await client.call('workstream.send', { wsId: other, message: 'what is this?' });

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
    // Lists: the skills, and the conversations, in which some letters of the name are enough.
    chat.type('/skill\r');
    await chat.until(has('▸ heron-'), 'the list of skills');
    chat.type(`hr${columns}`);
    await chat.until(has(`▸ heron-${columns}`), 'the skill that was typed');
    chat.type('\r');
    await chat.until((seen) => has(`heron-${columns}`)(seen) && isQuiet(seen), 'the skill');
    chat.type('/resume\r');
    await chat.until(has('▸ '), 'the list of conversations');
    chat.type(`qrtz${columns}`);
    await chat.until(has(`▸ quartz garden ${columns}`), 'the conversation that was typed');
    chat.type('\r');
    await chat.until((seen) => /^── 1 \S+ \[2 quartz garden /.test(seen.at(-2) ?? '') && isQuiet(seen), 'its tab');
    chat.type('/open new\r');
    const tabs = await chat.until(
      (seen) => /^── 1 \S+ 2 .+ \[3 /.test(seen.at(-2) ?? '') && seen.at(-1) === '›',
      'the tab',
    );
    assert.ok(tabs.every((row) => row.length <= columns));
    chat.type('\x1b1');
    await chat.until((seen) => (seen.at(-2) ?? '').startsWith(`── [1 ${chat.ws}]`), 'the first tab again');
  });
