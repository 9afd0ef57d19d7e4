;;; One turn of agent-shell with Parley: a prompt, and the question about the edit, accepted. See README.md here.  -*- lexical-binding: t; -*-
(let ((plugins (or (getenv "PLUGINS") (error "Set PLUGINS"))))
  (dolist (name '("acp.el" "shell-maker" "agent-shell"))
    (add-to-list 'load-path (expand-file-name name plugins))))
(require 'agent-shell)
(setq agent-shell-show-config-icons nil
      agent-shell-header-style nil
      agent-shell-show-welcome-message nil
      agent-shell-permission-responder-function
      (lambda (permission)
        (princ (format "Asked: %s\n" (mapcar (lambda (option) (map-elt option :kind)) (map-elt permission :options))))
        (agent-shell-permission-allow-always permission)))

(defvar parley-command (split-string (or (getenv "PARLEY") "parley")))

(defvar parley-shell
  (agent-shell-start
   :config (agent-shell-make-agent-config
            :identifier 'parley
            :mode-line-name "Parley"
            :buffer-name "Parley"
            :shell-prompt "Parley> "
            :shell-prompt-regexp "Parley> "
            :client-maker (lambda (buffer)
                            (agent-shell--make-acp-client
                             :command (car parley-command)
                             :command-params (append (cdr parley-command) '("acp" "--model" "offline"))
                             :context-buffer buffer)))))

(defun parley-text ()
  (with-current-buffer parley-shell (buffer-substring-no-properties (point-min) (point-max))))

(defun parley-wait-for (what holds)
  (with-timeout (60 (princ (format "No %s.\n%s" what (parley-text))) (kill-emacs 1))
    (while (not (funcall holds)) (accept-process-output nil 0.05))))

(parley-wait-for "session" (lambda ()
                             (with-current-buffer parley-shell (map-nested-elt agent-shell--state '(:session :id)))))
(agent-shell-insert :text "Write \"hello from agent-shell\" to greeting.txt" :submit t :shell-buffer parley-shell)
(parley-wait-for "answer" (lambda () (string-match-p "with 1 line" (parley-text))))
(princ (substring (parley-text) (string-match "Parley> Write" (parley-text))))
(kill-emacs 0)
