;;; The methods of acp.el with Parley, two turns among them. See README.md here.  -*- lexical-binding: t; -*-
(add-to-list 'load-path (expand-file-name "acp.el" (or (getenv "PLUGINS") (error "Set PLUGINS"))))
(require 'acp)

(defvar parley-folder (directory-file-name (expand-file-name default-directory)))

(defvar parley-client
  (let ((command (split-string (or (getenv "PARLEY") "parley"))))
    (acp-make-client :context-buffer (current-buffer)
                     :command (car command)
                     :command-params (append (cdr command) '("acp" "--model" "offline")))))

(defun parley-print (label value)
  (princ (format "%s: %s\n" label value)))

(acp-subscribe-to-notifications
 :client parley-client
 :buffer (current-buffer)
 :on-notification
 (lambda (notification)
   (let ((update (map-nested-elt notification '(params update))))
     (parley-print (map-elt update 'sessionUpdate)
                   (or (map-nested-elt update '(content text)) (map-elt update 'title) (map-elt update 'status) "")))))

(acp-subscribe-to-requests
 :client parley-client
 :buffer (current-buffer)
 :on-request
 (lambda (request)
   (parley-print "asked" (mapcar (lambda (option) (map-elt option 'name)) (map-nested-elt request '(params options))))
   (acp-send-response
    :client parley-client
    :response (acp-make-session-request-permission-response :request-id (map-elt request 'id) :option-id "once"))))

(defun parley-ask (request)
  (acp-send-request :client parley-client :request request :sync t))

(defun parley-prompt (session text)
  (parley-print "answer" (parley-ask (acp-make-session-prompt-request
                                      :session-id session
                                      :prompt (vector `((type . "text") (text . ,text)))))))

(parley-print "initialize" (map-elt (parley-ask (acp-make-initialize-request :protocol-version 1)) 'protocolVersion))
(parley-print "authenticate" (parley-ask (acp-make-authenticate-request :method-id "environment")))
(let ((session (map-elt (parley-ask (acp-make-session-new-request :cwd parley-folder :mcp-servers [])) 'sessionId)))
  (parley-prompt session "Write \"hello from Emacs\" to greeting.txt")
  (parley-ask (acp-make-session-set-mode-request :session-id session :mode-id "auto_edit"))
  (parley-ask (acp-make-session-set-config-option-request :session-id session :config-id "thought_level" :value "high"))
  (parley-prompt session "Write \"hello again\" to greeting.txt")
  (parley-print "load" (mapcar #'car (parley-ask (acp-make-session-load-request
                                                  :session-id session :cwd parley-folder :mcp-servers []))))
  (parley-ask (acp-make-session-delete-request :session-id session))
  (parley-print "sessions left" (length (map-elt (parley-ask (acp-make-session-list-request :cwd parley-folder)) 'sessions))))
(acp-shutdown :client parley-client)
