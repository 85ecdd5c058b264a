// A floor under the quality of the ranking, on a catalog small enough to read. The measured figures
// on public query sets come from `bench/search`.
import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { SearchDocument } from "./search-document.ts";
import { createSearchIndex } from "./search-index.ts";

/** name | description | parameters */
const CATALOG = `
code.read_file | Reads a text file, whole or by lines. | path line_range encoding
code.write_file | Writes a new file or replaces one. | path content
code.edit_file | Replaces exact text in a file. | path old_text new_text
code.delete_file | Deletes a file. | path
code.list_directory | Lists the entries of a directory. | path depth
code.search_text | Finds lines that match a pattern. | pattern path ignore_case
code.find_files | Finds files whose name matches a glob. | glob root
code.run_command | Runs a program with arguments and returns its output. | argv cwd timeout_ms
code.apply_patch | Applies a unified diff. | patch
agent.create_sub_agent | Starts another agent on a task of its own. | definition prompt allowed_tools
agent.fork_agent | Starts a copy of this agent with its context. | prompt
agent.task_create | Adds a task to the plan. | title steps
agent.task_update_step | Changes the state of a step. | step_id status note
internal.load_skill | Loads the instructions of a skill. | skill_name
internal.recall_memory | Looks up what was remembered earlier. | query
internal.write_memory | Remembers something for later sessions. | text
internal.read_artifact | Reads a part of a stored artifact. | artifact_id offset
mcp.github.create_issue | Opens an issue in a repository. | owner repo title body labels
mcp.github.list_pull_requests | Lists pull requests of a repository. | owner repo state
mcp.github.merge_pull_request | Merges a pull request. | owner repo number method
mcp.github.search_code | Searches code across repositories. | q sort
mcp.github.fork_repository | Creates your own copy of a repository. | owner repo
mcp.gitlab.createMergeRequest | Opens a merge request. | projectId sourceBranch targetBranch
mcp.gitlab.listPipelines | Shows CI pipelines and their state. | projectId ref
mcp.slack.post_message | Sends a message to a channel. | channel text thread_ts
mcp.slack.list_channels | Lists channels of the workspace. | cursor
mcp.slack.add_reaction | Adds an emoji to a message. | channel timestamp emoji
mcp.gmail.send_email | Sends an e-mail. | to cc subject body attachments
mcp.gmail.search_inbox | Finds mails in the inbox. | query label
mcp.calendar.create_event | Puts an event into the calendar. | title start end attendees
mcp.calendar.find_free_slot | Finds a time when all people are free. | attendees duration
mcp.drive.upload_file | Uploads a file to the drive. | folder_id name content
mcp.drive.share_document | Shares a document with someone. | document_id email role
mcp.notion.query_database | Queries rows of a database. | database_id filter sorts
mcp.notion.append_block | Adds text to the end of a page. | page_id markdown
mcp.jira.transition_ticket | Moves a ticket to another status. | ticket_key status
mcp.jira.add_comment | Comments on a ticket. | ticket_key comment
mcp.postgres.execute_sql | Runs an SQL statement. | sql parameters
mcp.postgres.describe_table | Shows columns and indexes of a table. | table_name schema
mcp.redis.get_key | Returns the value of a key. | key
mcp.s3.list_buckets | Lists storage buckets. | region
mcp.s3.presign_url | Makes a temporary download link for an object. | bucket key expires_in
mcp.k8s.get_pod_logs | Returns logs of a pod. | namespace pod container tail
mcp.k8s.scale_deployment | Sets the number of replicas. | namespace deployment replicas
mcp.docker.build_image | Builds a container image. | context tag
mcp.browser.navigate | Opens a web page. | url
mcp.browser.take_screenshot | Takes a picture of the page. | full_page
mcp.browser.click_element | Clicks on an element. | selector
mcp.weather.getForecast | Weather forecast for a place. | latitude longitude days
mcp.maps.directions | Route between two places. | origin destination mode
mcp.maps.geocode_address | Coordinates of an address. | address
mcp.stripe.create_refund | Gives money back for a payment. | payment_id amount reason
mcp.stripe.list_invoices | Lists invoices of a customer. | customer_id status
mcp.translate.translateText | Translates text from one language to another. | text target_lang
mcp.image.resize | Changes the size of an image. | width height path
mcp.pdf.extract_text | Pulls the text out of a PDF. | path pages
mcp.audio.transcribe | Turns speech into text. | audio_path language
mcp.news.top_headlines | Current news of a country. | country category
mcp.currency.convert | Converts an amount between currencies. | amount from to
mcp.feiyu.send_notice | 向群聊发送通知消息 | chat_id text`;

const QUERIES = `
open file => code.read_file
remove file => code.delete_file
grep pattern lines => code.search_text
glob file names => code.find_files
execute shell command => code.run_command
diff patch => code.apply_patch
spawn sub agent => agent.create_sub_agent
remember for later => internal.write_memory
new issue github => mcp.github.create_issue
GitHub PRs pull requests => mcp.github.list_pull_requests
clone repo copy => mcp.github.fork_repository
merge request gitlab => mcp.gitlab.createMergeRequest
ci pipeline status => mcp.gitlab.listPipelines
slack message => mcp.slack.post_message
emoji => mcp.slack.add_reaction
email attachment => mcp.gmail.send_email
I would like to schedule a meeting in my calendar => mcp.calendar.create_event
free time attendees => mcp.calendar.find_free_slot
share doc => mcp.drive.share_document
db rows filter => mcp.notion.query_database
jira ticket status => mcp.jira.transition_ticket
sql query => mcp.postgres.execute_sql
table columns => mcp.postgres.describe_table
kubernetes pod logs => mcp.k8s.get_pod_logs
replicas => mcp.k8s.scale_deployment
screenshot => mcp.browser.take_screenshot
screen shot of page => mcp.browser.take_screenshot
webpage url => mcp.browser.navigate
What will the weather be like in Paris tomorrow? => mcp.weather.getForecast
route to destination => mcp.maps.directions
refund payment => mcp.stripe.create_refund
translation language => mcp.translate.translateText
photo width => mcp.image.resize
speech to text => mcp.audio.transcribe
latest news => mcp.news.top_headlines
exchange currencies amount => mcp.currency.convert
serach inbxo => mcp.gmail.search_inbox
tranlsate => mcp.translate.translateText
calender evnet => mcp.calendar.create_event
geocod => mcp.maps.geocode_address
发送通知 => mcp.feiyu.send_notice`;

const index = createSearchIndex(
  CATALOG.trim()
    .split("\n")
    .map((line): SearchDocument => {
      const [name = "", description = "", parameters = ""] = line.split(" | ");
      return { name, description, parameters: parameters.split(" ") };
    }),
);

test.each(
  QUERIES.trim()
    .split("\n")
    .map((line) => line.split(" => ")),
)("%s finds %s among the first five of sixty", (query = "", wanted = "") => {
  verifies("SEARCH-2");
  expect(index.size).toBe(60);
  const found = index.search(query, { limit: 5 }).map(({ tool_name }) => tool_name);
  expect(found).toContain(wanted);
});
