// Written by `ralph-tracker agent install opencode`, taken out by `ralph-tracker agent uninstall opencode`.
// As a plugin that was installed and a file of a project, it is loaded twice; only the first one acts.
// Each event goes to `ralph-tracker agent hook opencode` as JSON; its answer is {"block" | "context" | "log": text}.
//
// opencode has no hook that a stop waits for. When a text of the model ends in a running loop, an empty message of the
// user is queued. If tools follow, it is dropped. If none do, the session goes on with it, and before the model is asked
// the iteration is measured: the message becomes what the agent has to know, or that it may close.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"

const COMMAND = "COMMAND"
const CLOSE = "ralph-tracker lets this session end. Do no more work; close with a short answer."

const LOADED = (globalThis[Symbol.for("ralph-tracker")] ??= new Set()) // folders

export const RalphTracker = async ({ client, directory }) => {
  if (LOADED.has(directory)) return {}
  LOADED.add(directory)
  const sessions = new Map() // by id: what is known of a session; null for one of a subagent
  const texts = new Map() // by id: what became of a queued message, for the model
  let queueing = false
  let warned = false

  const hook = (event) =>
    new Promise((resolve) => {
      const child = spawn("sh", ["-c", COMMAND], { cwd: directory, stdio: ["pipe", "pipe", "pipe"] })
      let out = ""
      let err = ""
      child.stdout.on("data", (data) => (out += data))
      child.stderr.on("data", (data) => (err += data))
      child.stdin.on("error", () => {})
      child.on("error", () => resolve({}))
      child.on("close", () => {
        if (err.trim() && !warned) {
          warned = true
          client.app.log({ body: { service: "ralph-tracker", level: "warn", message: err.trim() } }).catch(() => {})
        }
        try {
          resolve(JSON.parse(out || "{}"))
        } catch {
          resolve({})
        }
      })
      child.stdin.end(JSON.stringify(event))
    })

  const isRunning = () => {
    const wish = process.env.RALPH_TRACKER_LOOP
    const driven = process.env.RALPH_TRACKER_DRIVEN
    if (wish === "0" || (driven && driven !== "0")) return false
    try {
      const base = `${directory}/.aiwg/ralph`
      const name = process.env.RALPH_LOOP_ID || readFileSync(`${base}/current`, "utf8").trim()
      if (!existsSync(`${base}/${name}/state.json`)) return false
      return JSON.parse(readFileSync(`${base}/${name}/state.json`, "utf8")).status === "running"
    } catch {
      return false
    }
  }

  const begun = async (id) => {
    if (!sessions.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      sessions.set(id, found?.data?.parentID ? null : { told: "", asked: {}, queued: "", isFree: false })
      const session = sessions.get(id)
      if (session) session.told = (await hook({ hook_event_name: "SessionStart", session_id: id })).context ?? ""
    }
    return sessions.get(id)
  }

  const answersOf = (messages) =>
    messages
      .map(({ info }) => info)
      .filter((info) => info.role === "assistant" && info.tokens)
      .map(({ time, tokens, cost }) => ({
        at: time.created,
        input: tokens.input + tokens.cache.read + tokens.cache.write,
        output: tokens.output + tokens.reasoning,
        cost: cost ?? 0,
      }))

  return {
    dispose: async () => void LOADED.delete(directory),

    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (queueing) return
      const session = await begun(sessionID)
      if (!session) return
      session.asked = { id: message.id, agent: message.agent, model: message.model }
      session.isFree = false
      const prompt = parts.map((part) => part.text ?? "").join("\n")
      await hook({ hook_event_name: "UserPromptSubmit", session_id: sessionID, prompt_id: message.id, prompt })
    },

    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const told = sessions.get(sessionID)?.told
      if (told) system.push(told)
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const session = sessions.get(sessionID)
      if (!session) return
      const answer = await hook({
        hook_event_name: "PostToolUse",
        session_id: sessionID,
        prompt_id: session.asked.id,
        tool_name: tool,
        tool_use_id: callID,
        tool_input: args,
        tool_response: { output: output.output },
      })
      if (answer.context) output.output += `\n\n${answer.context}`
    },

    "experimental.text.complete": async ({ sessionID }) => {
      const session = sessions.get(sessionID)
      if (!session || session.isFree || session.queued || !isRunning()) return
      const { agent, model } = session.asked
      const parts = [{ type: "text", text: "ralph-tracker", synthetic: true, ignored: true }]
      queueing = true
      try {
        const made = await client.session.prompt({ path: { id: sessionID }, body: { noReply: true, agent, model, parts } })
        session.queued = made?.data?.info?.id ?? ""
      } finally {
        queueing = false
      }
    },

    "experimental.chat.messages.transform": async (_, { messages }) => {
      const sessionID = messages[0]?.info.sessionID
      const session = sessions.get(sessionID)
      if (session?.queued) {
        const queued = session.queued
        session.queued = ""
        const last = messages.map(({ info }) => info).findLast((info) => info.role === "assistant")
        if (last && last.finish !== "tool-calls" && last.finish !== "unknown") {
          const answers = answersOf(messages)
          const stop = { hook_event_name: "Stop", session_id: sessionID, prompt_id: session.asked.id, answers }
          const { block, log } = await hook(stop)
          session.isFree = !block
          texts.set(queued, block ?? [log, CLOSE].filter(Boolean).join("\n"))
        }
      }
      for (const message of messages) {
        const text = texts.get(message.info.id)
        if (text) message.parts = message.parts.map((part) => ({ ...part, text, ignored: false }))
      }
    },
  }
}
