// The reference behind the JSON lines of `dsh-fs run`, so that both can be driven alike: `node reference.mjs FOLDER`.
// One call a line, {"tool", "args"}; one result a line, {"content", "isError"}. All calls belong to one session.
import { createInterface } from 'node:readline'
import { Context } from '@deepseek-ai/cordis'
import * as systemPrompt from '@deepseek-ai/dsh-system-prompt'
import * as tools from '@deepseek-ai/dsh-tools'
import * as fsLocal from '@deepseek-ai/dsh-fs-local'
import * as policy from '@deepseek-ai/dsh-fs-observation-policy'
import * as toolFs from '@deepseek-ai/dsh-tool-fs'

const cwd = process.argv[2]
const ctx = new Context()
for (const plugin of [systemPrompt, tools, fsLocal, policy, toolFs]) {
  await ctx.plugin(plugin.default ?? plugin, plugin === fsLocal ? { cwd } : {})
}

const agent = { session: { header: { cwd } } }
let calls = 0
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, args } = JSON.parse(line)
  const { signal } = new AbortController()
  const result = await ctx.tools.execute({ callId: `call-${++calls}`, name: tool, arguments: args, signal, agent })
  const content = result.content.map((block) => block.text ?? '').join('')
  process.stdout.write(JSON.stringify({ content, isError: result.isError }) + '\n')
}
