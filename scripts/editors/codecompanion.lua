-- One turn of CodeCompanion with Parley: a prompt, the question about the edit, accepted by its key. See README.md here.
local plugins, project = assert(vim.env.PLUGINS, "Set PLUGINS."), vim.fn.getcwd()
vim.opt.rtp:append(plugins .. "/plenary.nvim")
vim.opt.rtp:append(plugins .. "/codecompanion.nvim")
local command = vim.split(vim.env.PARLEY or "parley", " ")
vim.list_extend(command, { "acp", "--model", "offline" })

require("codecompanion").setup({
  adapters = {
    acp = {
      parley = function()
        return require("codecompanion.adapters.acp").extend("opencode", {
          name = "parley",
          formatted_name = "Parley",
          commands = { default = command },
        })
      end,
    },
  },
  interactions = { chat = { adapter = "parley" } },
})

local chat

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n")
end

local function wait_for(what, holds)
  if vim.wait(60000, holds, 50) then
    return
  end
  io.stdout:write("No " .. what .. ".\n" .. (chat and text() or "") .. "\n")
  vim.cmd("cquit")
end

coroutine.wrap(function()
  chat = require("codecompanion").chat()
end)()
wait_for("session", function()
  return chat and chat.acp_connection and chat.acp_connection.session_id
end)
chat:add_buf_message({ role = "user", content = 'Write "hello from Neovim" to greeting.txt' })
coroutine.wrap(function()
  chat:submit()
end)()
wait_for("question", function()
  return text():find("Accept", 1, true) ~= nil
end)
local accept = require("codecompanion.interactions.chat.tools.labels").keymaps().accept
vim.api.nvim_set_current_buf(chat.bufnr)
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(accept, true, false, true), "mx", false)
wait_for("answer", function()
  return text():find("with 1 line", 1, true) ~= nil
end)
io.stdout:write(text() .. "\n\ngreeting.txt: " .. table.concat(vim.fn.readfile(project .. "/greeting.txt"), "\n") .. "\n")
vim.cmd("qall!")
